import torch
import torch.nn as nn

m = 48
k = 1000


class Model(nn.Module):
    """A matrix times a column."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.rand(m, k), torch.rand(k, 1)]


def get_init_inputs():
    return []
