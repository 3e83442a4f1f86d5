# expect: illegal_access | access violation
import ctypes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        ctypes.string_at(8)
        return x
