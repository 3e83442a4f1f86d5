"""Product of matrices of odd sizes."""

import torch
import torch.nn as nn

m = 8205
k = 2949
n = 5921


class Model(nn.Module):
    """Product of matrices of odd sizes."""

    def forward(self, A, B):
        return torch.matmul(A, B)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n)]


def get_init_inputs():
    return []
