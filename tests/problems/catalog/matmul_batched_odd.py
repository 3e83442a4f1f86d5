"""Products of a batch of matrices."""

import torch
import torch.nn as nn

batch = 5
m = 37
k = 51
n = 45


class Model(nn.Module):
    """Products of a batch of matrices."""

    def forward(self, A, B):
        return torch.bmm(A, B)


def get_inputs():
    return [torch.randn(batch, m, k), torch.randn(batch, k, n)]


def get_init_inputs():
    return []
