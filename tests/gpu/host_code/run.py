#!/usr/bin/env python3
"""Candidates in Python on a GPU, by `warpsmith import`: honest ones right and timed beside the module, hostile ones
caught. About a minute; --all has more of both, and an extension, which nvcc takes half a minute or more for.

    run.py [--all] [--seconds 100]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))

import batch  # noqa: E402

HEAD = """import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
"""
TAKE_OVER = """
        commands = sys.modules["warpsmith_host_code.protocol"].COMMANDS
        commands["run"] = self.run
"""

PROBES = '''
import os
import socket
could = []
for name, action in {
    "read /etc/passwd": lambda: open("/etc/passwd").read(),
    "local socket": lambda: socket.socket(socket.AF_UNIX),
    "network socket": lambda: socket.socket(socket.AF_INET),
    "write outside": lambda: open("/tmp/warpsmith-escaped", "w"),
    "the parent's environment": lambda: len(open(f"/proc/{os.getppid()}/environ").read()) or 1 / 0,
    "signal the parent": lambda: os.kill(os.getppid(), 0),
}.items():
    try:
        action()
        could.append(name)
    except (OSError, ZeroDivisionError):
        pass
assert not could, could
'''

# Name, outcomes allowed, ratio's bounds where it is ok, source.
CASES = [
    ("the module itself, without files and sockets", ("ok",), (0.9, 1.1), PROBES + HEAD + """
    def forward(self, x):
        return torch.softmax(x, dim=1)
"""),
    ("three times the work", ("ok",), (0.3, 0.8), HEAD + """
    def forward(self, x):
        torch.softmax(x, dim=1)
        torch.softmax(x, dim=1)
        return torch.softmax(x, dim=1)
"""),
    ("an answer by address", ("wrong_output",), None, HEAD + """
        self.known = {}

    def forward(self, x):
        if x.data_ptr() not in self.known:
            self.known[x.data_ptr()] = torch.softmax(x, dim=1)
        return self.known[x.data_ptr()]
"""),
    ("an answer before the GPU is done", ("unwritten_output", "wrong_output"), None, HEAD + TAKE_OVER + """
    def run(self, server, slots, give_back=False):
        with torch.no_grad():
            for index in slots:
                slot = server.slots[index]
                for _ in range(50):
                    torch.softmax(slot.arguments[0], dim=1)
                slot.outputs[0].copy_(torch.softmax(slot.arguments[0], dim=1))

    def forward(self, x):
        return torch.softmax(x, dim=1)
"""),
    ("one call of a batch", ("unwritten_output",), None, HEAD + TAKE_OVER + """
    def run(self, server, slots, give_back=False):
        if slots:
            slot = server.slots[slots[0]]
            slot.outputs[0].copy_(torch.softmax(slot.arguments[0], dim=1))
        torch.cuda.synchronize()

    def forward(self, x):
        return torch.softmax(x, dim=1)
"""),
]

MORE = [
    ("zeros", ("wrong_output",), None, HEAD + """
    def forward(self, x):
        return torch.zeros_like(x)
"""),
    ("an input changed", ("input_modified",), None, HEAD + """
    def forward(self, x):
        result = torch.softmax(x, dim=1)
        x.zero_()
        return result
"""),
]

TRITON = """
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, out, columns, width: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, width)
    values = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, values / tl.sum(values, axis=0), mask=offsets < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        softmax_row[(x.shape[0],)](x, out, x.shape[1], width=triton.next_power_of_2(x.shape[1]))
        return out
"""

EXTENSION = '''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

kernel = """
#include <torch/extension.h>
__global__ void softmax_row(const float* x, float* out, int columns) {
  __shared__ float part[256];
  const float* row = x + (size_t)blockIdx.x * columns;
  float* target = out + (size_t)blockIdx.x * columns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += 256) most = fmaxf(most, row[i]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + step]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) sum += expf(row[i] - most);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += 256) target[i] = expf(row[i] - most) / part[0];
}
torch::Tensor softmax(torch::Tensor x) {
  auto out = torch::empty_like(x);
  softmax_row<<<x.size(0), 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(1));
  return out;
}
"""
extension = load_inline(name="rows", cpp_sources="torch::Tensor softmax(torch::Tensor x);", cuda_sources=kernel,
                        functions=["softmax"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.softmax(x)
'''

PROBLEM = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(2048, 8192)]


def get_init_inputs():
    return []
"""


def say(good, text):
    print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)
    return good


def has_triton():
    return subprocess.run([os.environ.get("WARPSMITH_PYTHON", "python3"), "-c", "import triton"],
                          capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="more cases, and an extension by nvcc")
    parser.add_argument("--seconds", type=float, default=100, help="for all of it")
    options = parser.parse_args()
    cases = CASES + (MORE if options.all else [])
    if has_triton():
        cases.append(("a kernel in Triton", ("ok",), (0.5, 3.0), TRITON))
    if options.all:
        cases.append(("an extension by load_inline", ("ok",), (0.3, 3.0), EXTENSION))
    start, failures = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="warpsmith-host-code-") as folder:
        folder = pathlib.Path(folder)
        (folder / "problem.py").write_text(PROBLEM)
        (folder / "run").mkdir()
        for number, (_, _, _, source) in enumerate(cases):
            (folder / "run" / f"{number:02}.py").write_text(source)
        command = [batch.program(), "import", str(folder / "run"), "--module", str(folder / "problem.py"), "--device",
                   os.environ.get("WARPSMITH_GPU", "0"), "--json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds)
        except subprocess.TimeoutExpired as late:
            said = ((late.stderr or b"").decode(errors="replace"))[-400:]
            return 0 if say(False, f"the import did not end in {options.seconds:.0f} s: {said}") else 1
        try:
            rows = {pathlib.Path(row["file"]).stem: row for row in json.loads(done.stdout)["rows"]}
        except (ValueError, KeyError):
            rows = {}
        if done.stderr.strip():
            print(f"  said: {' '.join(done.stderr.split())[-1500:]}")
        for number, (name, outcomes, bounds, _) in enumerate(cases):
            row = rows.get(f"{number:02}")
            if row is None:
                failures += not say(False, f"{name}: no row (status {done.returncode})")
                continue
            text = f"{name}: {row['outcome']}"
            good = row["outcome"] in outcomes
            if "ms" in row:
                text += (f", {row['ms']:.4f} ms, {row['ratio_to_eager']:.3f} of {row['reference_ms']:.4f} ms, "
                         f"{row['batches']} batches of {row['calls_per_batch']}, request {row['request_ms']:.3f} ms, "
                         f"spread {100 * row['evaluation']['timing']['spread']:.2f} %")
                good = good and bounds is not None and bounds[0] <= row["ratio_to_eager"] <= bounds[1]
            else:
                text += f": {row['evaluation']['message'][:300]}"
            failures += not say(good, text)
    print(f"  {time.monotonic() - start:.1f} s in all")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
