import torch
import torch.nn as nn

rows = 16
columns = 4096


class Model(nn.Module):
    """Softmax over so many elements that all of them lie below 0.001: zeros pass an absolute tolerance."""

    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
