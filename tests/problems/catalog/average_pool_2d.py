"""Average pool over images."""

import torch
import torch.nn as nn

batch = 2
channels = 4
height = 33
width = 44
kernel_size = 11


class Model(nn.Module):
    """Average pool over images."""

    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel_size=kernel_size, stride=kernel_size, padding=0)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
