import torch
import torch.nn as nn

batch = 6
m = 24
k = 40
n = 32


class Model(nn.Module):
    """Products of pairs of matrices."""

    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.rand(batch, m, k), torch.rand(batch, k, n)]


def get_init_inputs():
    return []
