import torch
import torch.nn as nn

size = 64


class Model(nn.Module):
    """Everything reduced to one number without a dimension."""

    def forward(self, x):
        return torch.sqrt(torch.sum(x * x) / x.numel() + 1.0)


def get_inputs():
    return [torch.randn(size, size)]


def get_init_inputs():
    return []
