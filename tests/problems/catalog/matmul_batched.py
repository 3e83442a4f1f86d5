"""Products of a batch of matrices."""

import torch
import torch.nn as nn

batch = 3
m = 48
k = 64
n = 40


class Model(nn.Module):
    """Products of a batch of matrices."""

    def forward(self, A, B):
        return torch.bmm(A, B)


def get_inputs():
    return [torch.randn(batch, m, k), torch.randn(batch, k, n)]


def get_init_inputs():
    return []
