import torch
import torch.nn as nn

size = 32


class Model(nn.Module):
    """Adds noise that it draws itself."""

    def forward(self, x):
        return x + 0.1 * torch.randn_like(x)


def get_inputs():
    return [torch.rand(size, size)]


def get_init_inputs():
    return []
