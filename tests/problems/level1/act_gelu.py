"""The activation gelu."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 4096
columns = 393216


class Model(nn.Module):
    """The activation gelu."""

    def forward(self, x):
        return F.gelu(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
