"""Where the first seconds of an oracle's process go. Run by run.py."""

import time

START = time.perf_counter()


def lap(what):
    global START
    now = time.perf_counter()
    print(f"{what:<52} {(now - START) * 1e3:9.1f} ms", flush=True)
    START = time.perf_counter()


import torch  # noqa: E402

lap("import torch")
torch.cuda.init()
lap("torch.cuda.init")
torch.zeros(1, device="cuda:0")
torch.cuda.synchronize()
lap("first tensor (context)")
from warpsmith_oracle import kernels, native, warm  # noqa: E402

lap("import warpsmith_oracle")
compiler = native.Nvrtc()
lap("loading NVRTC")
compiler.compile(kernels.source(), "sm_%d%d" % torch.cuda.get_device_capability())
lap("compiling kernels.cu")
kernels.of("cuda:0")
lap("kernels.of, compiling again")
torch.manual_seed(1)
lap("torch.manual_seed")
with torch.device("cuda:0"):
    x = torch.rand(64, 64)
torch.cuda.synchronize()
lap("rand under a default device")
(x @ x).sum().item()
lap("matrix product (cuBLAS)")
(x.double() @ x.double()).sum().item()
lap("matrix product in float64")
torch.conv2d(torch.rand(1, 3, 32, 32, device="cuda:0"), torch.rand(4, 3, 3, 3, device="cuda:0")).sum().item()
lap("convolution (cuDNN)")
print(warm.rehearse("cuda:0"), end="")
lap("rehearsal")
print(warm.rehearse("cuda:0"), end="")
lap("rehearsal again")
