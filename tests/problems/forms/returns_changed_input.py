import torch
import torch.nn as nn

rows = 64
columns = 96


class Model(nn.Module):
    """Changes its argument in place and returns it: argument and result are one tensor there."""

    def forward(self, x):
        return x.mul_(2.0).add_(1.0)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
