import torch
import torch.nn as nn


class Model(nn.Module):
    """Every element is below 1e-3: zeros pass a tolerance of 1e-2."""

    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(16, 8192)]


def get_init_inputs():
    return []
