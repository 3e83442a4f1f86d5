import torch
import torch.nn as nn

size = 32


class Model(nn.Module):
    """A dictionary of results."""

    def forward(self, x):
        return {"logits": x * 2 + 1, "loss": x.pow(2).mean()}


def get_inputs():
    return [torch.randn(size, size)]


def get_init_inputs():
    return []
