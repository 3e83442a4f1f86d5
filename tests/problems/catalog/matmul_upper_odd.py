"""Product of upper triangular matrices."""

import torch
import torch.nn as nn

m = 53


class Model(nn.Module):
    """Product of upper triangular matrices."""

    def forward(self, A, B):
        return torch.triu(torch.matmul(A, B))


def get_inputs():
    return [torch.triu(torch.randn(m, m)), torch.triu(torch.randn(m, m))]


def get_init_inputs():
    return []
