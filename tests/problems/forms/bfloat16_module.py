import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """A layer in bfloat16."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 32).bfloat16()

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(rows, columns).bfloat16()]


def get_init_inputs():
    return [columns]
