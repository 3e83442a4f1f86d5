"""Matrix times vector."""

import torch
import torch.nn as nn

m = 48
k = 2048


class Model(nn.Module):
    """Matrix times vector."""

    def forward(self, A, B):
        return torch.matmul(A, B)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, 1)]


def get_init_inputs():
    return []
