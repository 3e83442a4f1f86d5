import torch
import torch.nn as nn

batch = 2
i = 6
j = 8
length = 16
k = 12


class Model(nn.Module):
    """A tensor of four dimensions times a matrix, as an Einstein sum."""

    def forward(self, a, b):
        return torch.einsum("bijl,lk->bijk", a, b)


def get_inputs():
    return [torch.rand(batch, i, j, length), torch.rand(length, k)]


def get_init_inputs():
    return []
