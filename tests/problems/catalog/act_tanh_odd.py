"""The activation tanh."""

import torch
import torch.nn as nn

rows = 7
columns = 1037


class Model(nn.Module):
    """The activation tanh."""

    def forward(self, x):
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
