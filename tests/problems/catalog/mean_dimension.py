"""Mean over the middle dimension."""

import torch
import torch.nn as nn

batch = 4
rows = 96
columns = 64


class Model(nn.Module):
    """Mean over the middle dimension."""

    def forward(self, x):
        return torch.mean(x, dim=1)


def get_inputs():
    return [torch.randn(batch, rows, columns)]


def get_init_inputs():
    return []
