import torch
import torch.nn as nn

rows = 4096
columns = 4096


class Model(nn.Module):
    """ReLU over 16 Mi elements that are positive as drawn: a copy of the input looks right."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
