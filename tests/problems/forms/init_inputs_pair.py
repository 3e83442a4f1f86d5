import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """A constructor's arguments as a pair: a list of positional ones and a dictionary of named ones."""

    def __init__(self, width, bias=True):
        super().__init__()
        self.linear = nn.Linear(columns, width, bias=bias)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return [[], {"width": 32, "bias": False}]
