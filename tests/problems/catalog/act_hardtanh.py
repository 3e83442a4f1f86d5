"""The activation hardtanh."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 16
columns = 1024


class Model(nn.Module):
    """The activation hardtanh."""

    def forward(self, x):
        return F.hardtanh(x, min_val=-1.0, max_val=1.0)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
