"""Average pool over volumes."""

import torch
import torch.nn as nn

batch = 1
channels = 2
side = 16
kernel_size = 3
stride = 2
padding = 1


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
