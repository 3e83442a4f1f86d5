import torch
import torch.nn as nn

rows = 32
features = 24


class Model(nn.Module):
    """Softmax over a dimension of one: ones, whatever the input."""

    def forward(self, x):
        return torch.softmax(x.sum(dim=1, keepdim=True), dim=1)


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return []
