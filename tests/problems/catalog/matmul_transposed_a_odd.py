"""Product with the first operand transposed."""

import torch
import torch.nn as nn

m = 37
k = 51
n = 45


class Model(nn.Module):
    """Product with the first operand transposed."""

    def forward(self, A, B):
        return torch.matmul(A.T, B)


def get_inputs():
    return [torch.randn(k, m), torch.randn(k, n)]


def get_init_inputs():
    return []
