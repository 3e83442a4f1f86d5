"""A diagonal matrix times a matrix."""

import torch
import torch.nn as nn

n = 37
m = 53


class Model(nn.Module):
    """A diagonal matrix times a matrix."""

    def forward(self, A, B):
        return torch.diag(A) @ B


def get_inputs():
    return [torch.randn(n), torch.randn(n, m)]


def get_init_inputs():
    return []
