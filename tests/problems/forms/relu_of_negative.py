import torch
import torch.nn as nn

rows = 32
features = 24


class Model(nn.Module):
    """Linear layer less 2, times 1.5, rectified: zero on its own inputs, and not on larger ones."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu((self.linear(x) - 2.0) * 1.5)


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return [features]
