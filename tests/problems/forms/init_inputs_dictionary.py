import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """A constructor's arguments by name."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(columns, width)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return {"width": 32}
