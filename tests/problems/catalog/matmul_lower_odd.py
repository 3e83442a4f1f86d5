"""Product of lower triangular matrices."""

import torch
import torch.nn as nn

m = 53


class Model(nn.Module):
    """Product of lower triangular matrices."""

    def forward(self, A, B):
        return torch.tril(torch.matmul(A, B))


def get_inputs():
    return [torch.tril(torch.randn(m, m)), torch.tril(torch.randn(m, m))]


def get_init_inputs():
    return []
