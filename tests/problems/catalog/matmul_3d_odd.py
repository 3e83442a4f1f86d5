"""A batch of matrices times one matrix."""

import torch
import torch.nn as nn

batch = 5
m = 37
k = 51
n = 45


class Model(nn.Module):
    """A batch of matrices times one matrix."""

    def forward(self, A, B):
        return torch.matmul(A, B)


def get_inputs():
    return [torch.randn(batch, m, k), torch.randn(k, n)]


def get_init_inputs():
    return []
