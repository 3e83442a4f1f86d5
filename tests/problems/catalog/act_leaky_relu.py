"""The activation leaky_relu."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 16
columns = 1024


class Model(nn.Module):
    """The activation leaky_relu."""

    def forward(self, x):
        return F.leaky_relu(x, negative_slope=0.01)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
