"""The activation gelu."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 16
columns = 1024


class Model(nn.Module):
    """The activation gelu."""

    def forward(self, x):
        return F.gelu(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
