"""The activation elu."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 7
columns = 1037


class Model(nn.Module):
    """The activation elu."""

    def forward(self, x):
        return F.elu(x, alpha=1.0)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
