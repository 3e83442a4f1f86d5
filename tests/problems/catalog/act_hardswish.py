"""The activation hardswish."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 16
columns = 1024


class Model(nn.Module):
    """The activation hardswish."""

    def forward(self, x):
        return F.hardswish(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
