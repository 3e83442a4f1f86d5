import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """The four largest of a row, and where they stand."""

    def forward(self, x):
        values, indexes = torch.topk(x, 4, dim=1)
        return values, indexes


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
