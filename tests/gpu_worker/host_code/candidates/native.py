# expect: ok
# compiles
import ctypes
import subprocess

import torch
import torch.nn as nn

with open("rectify.cc", "w") as file:
    file.write('extern "C" void rectify(float* x, long count, float scale) {\n'
               "  for (long i = 0; i < count; ++i) x[i] = x[i] > 0 ? x[i] * scale : 0;\n}\n")
subprocess.run(["g++", "-O2", "-shared", "-fPIC", "-o", "rectify.so", "rectify.cc"], check=True)
library = ctypes.CDLL("./rectify.so")
library.rectify.argtypes = (ctypes.c_void_p, ctypes.c_long, ctypes.c_float)


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        result = self.linear(x)
        library.rectify(result.data_ptr(), result.numel(), self.scale)
        return result
