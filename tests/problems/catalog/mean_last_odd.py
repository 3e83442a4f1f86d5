"""Mean over the last dimension."""

import torch
import torch.nn as nn

rows = 7
columns = 1037


class Model(nn.Module):
    """Mean over the last dimension."""

    def forward(self, x):
        return torch.mean(x, dim=-1)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
