import torch
import torch.nn as nn

m = 48
k = 96
n = 64


class Model(nn.Module):
    """Product of two matrices, the first transposed in forward()."""

    def forward(self, a, b):
        return torch.matmul(a.T, b)


def get_inputs():
    return [torch.rand(k, m), torch.rand(k, n)]


def get_init_inputs():
    return []
