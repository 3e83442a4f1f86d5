import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """A layer that learns its width at its first call."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.LazyLinear(width)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [32]
