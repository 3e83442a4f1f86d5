"""A batch of matrices times one matrix."""

import torch
import torch.nn as nn

batch = 3
m = 48
k = 64
n = 40


class Model(nn.Module):
    """A batch of matrices times one matrix."""

    def forward(self, A, B):
        return torch.matmul(A, B)


def get_inputs():
    return [torch.randn(batch, m, k), torch.randn(k, n)]


def get_init_inputs():
    return []
