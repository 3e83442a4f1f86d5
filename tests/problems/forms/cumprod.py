import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """Running product along a dimension of values near one."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.cumprod(x, dim=self.dim)


def get_inputs():
    return [torch.rand(rows, columns) * 0.1 + 0.95]


def get_init_inputs():
    return [0]
