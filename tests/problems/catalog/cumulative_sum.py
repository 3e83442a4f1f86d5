"""Cumulative sum along rows."""

import torch
import torch.nn as nn

rows = 16
columns = 1024


class Model(nn.Module):
    """Cumulative sum along rows."""

    def forward(self, x):
        return torch.cumsum(x, dim=1)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
