"""Product with both operands transposed."""

import torch
import torch.nn as nn

m = 2048
k = 8192
n = 4096


class Model(nn.Module):
    """Product with both operands transposed."""

    def forward(self, A, B):
        return torch.matmul(A.T, B.T)


def get_inputs():
    return [torch.randn(k, m), torch.randn(n, k)]


def get_init_inputs():
    return []
