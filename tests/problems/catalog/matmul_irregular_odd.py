"""Product of matrices of odd sizes."""

import torch
import torch.nn as nn

m = 37
k = 51
n = 45


class Model(nn.Module):
    """Product of matrices of odd sizes."""

    def forward(self, A, B):
        return torch.matmul(A, B)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n)]


def get_init_inputs():
    return []
