import torch
import torch.nn as nn

size = 32


class Model(nn.Module):
    """A recurrent module's way to answer: (output, (hidden, cell), None, number of rows)."""

    def forward(self, x):
        hidden = torch.tanh(x)
        return hidden * x, (hidden.sum(dim=0), [hidden.mean(dim=1)]), None, x.shape[0]


def get_inputs():
    return [torch.randn(size, size)]


def get_init_inputs():
    return []
