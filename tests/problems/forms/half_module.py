import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """A layer in float16: PyTorch 1.x has no kernel for it on a CPU."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 32).half()

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(rows, columns).half()]


def get_init_inputs():
    return [columns]
