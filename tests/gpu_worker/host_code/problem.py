import torch
import torch.nn as nn

inputs = 96
outputs = 64
rows = 128


class Model(nn.Module):
    """A linear layer, scaled and rectified."""

    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        return torch.relu(self.linear(x) * self.scale)


def get_inputs():
    return [torch.randn(rows, inputs)]


def get_init_inputs():
    return [inputs, outputs, 1.5]
