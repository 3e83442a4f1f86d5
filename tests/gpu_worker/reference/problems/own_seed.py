import torch
import torch.nn as nn


class Model(nn.Module):
    """Seeds its inputs itself, which must not make them repeat."""

    def forward(self, x, y):
        return x + y


def get_inputs():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(8, 8), torch.rand(8, 8, generator=generator)]


def get_init_inputs():
    return []
