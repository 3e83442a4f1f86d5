import torch
import torch.nn as nn


class Model(nn.Module):
    """Tensors that are neither parameters nor buffers, one of which forward() changes."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(16, 16)
        self.hidden = torch.randn(4, 16)
        self.tables = [torch.randn(16), torch.randn(16)]

    def forward(self, x):
        self.hidden = torch.tanh(self.cell(x) + self.hidden)
        return self.hidden * self.tables[0] + self.tables[1]


def get_inputs():
    return [torch.randn(4, 16)]


def get_init_inputs():
    return []
