"""The activation relu."""

import torch
import torch.nn as nn

rows = 4096
columns = 393216


class Model(nn.Module):
    """The activation relu."""

    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
