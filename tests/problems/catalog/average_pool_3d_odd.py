"""Average pool over volumes."""

import torch
import torch.nn as nn

batch = 2
channels = 3
side = 11
kernel_size = 2
stride = 1
padding = 0


class Model(nn.Module):
    """Average pool over volumes."""

    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool3d(kernel_size=kernel_size, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(batch, channels, side, side, side)]


def get_init_inputs():
    return []
