"""Maximum over the middle dimension."""

import torch
import torch.nn as nn

batch = 3
rows = 37
columns = 51


class Model(nn.Module):
    """Maximum over the middle dimension."""

    def forward(self, x):
        return torch.max(x, dim=1)[0]


def get_inputs():
    return [torch.randn(batch, rows, columns)]


def get_init_inputs():
    return []
