import torch
import torch.nn as nn


class Model(nn.Module):
    """Minus infinity is part of the answer."""

    def forward(self, x):
        return x.masked_fill(torch.triu(torch.ones(x.shape[0], x.shape[1], dtype=torch.bool), 1), float("-inf"))


def get_inputs():
    return [torch.randn(24, 24)]


def get_init_inputs():
    return []
