import torch
import torch.nn as nn

size = 32


class Model(nn.Module):
    """Two arguments that are one tensor."""

    def forward(self, x, y):
        return torch.matmul(x, y)


def get_inputs():
    x = torch.randn(size, size)
    return [x, x]


def get_init_inputs():
    return []
