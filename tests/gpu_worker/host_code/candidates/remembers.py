# expect: wrong_output | output
# What it once computed for an address is its answer for whatever lies there later.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

        self.known = {}

    def forward(self, x):
        if x.data_ptr() not in self.known:
            self.known[x.data_ptr()] = torch.relu(self.linear(x) * self.scale)
        return self.known[x.data_ptr()]
