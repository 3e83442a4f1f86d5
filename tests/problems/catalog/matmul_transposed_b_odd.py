"""Product with the second operand transposed."""

import torch
import torch.nn as nn

m = 37
k = 51
n = 45


class Model(nn.Module):
    """Product with the second operand transposed."""

    def forward(self, A, B):
        return torch.matmul(A, B.T)


def get_inputs():
    return [torch.randn(m, k), torch.randn(n, k)]


def get_init_inputs():
    return []
