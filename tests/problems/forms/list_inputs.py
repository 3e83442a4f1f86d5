import torch
import torch.nn as nn

rows = 32
features = 24


class Model(nn.Module):
    """A list of tensors as one argument, and a dictionary as another."""

    def forward(self, xs, options):
        return torch.cat(xs, dim=1) * options["scale"] + options["shift"]


def get_inputs():
    return [[torch.randn(rows, features), torch.randn(rows, features + 8)], {"scale": torch.rand(()), "shift": 0.5}]


def get_init_inputs():
    return []
