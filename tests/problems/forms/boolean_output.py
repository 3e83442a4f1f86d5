import torch
import torch.nn as nn

rows = 64
columns = 96


class Model(nn.Module):
    """Where one tensor is larger than another."""

    def forward(self, x, y):
        return x > y


def get_inputs():
    return [torch.rand(rows, columns), torch.rand(rows, columns)]


def get_init_inputs():
    return []
