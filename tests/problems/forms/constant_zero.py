import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 32
features = 24


class Model(nn.Module):
    """The largest of each row less its own mean: zero, whatever the input."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        x = torch.max(self.linear(x), dim=1, keepdim=True).values
        return F.gelu(x - x.mean(dim=1, keepdim=True))


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return [features]
