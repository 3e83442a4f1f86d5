"""Transposed convolution."""

import torch
import torch.nn as nn

batch = 2
channels = 8
height = 12
width = 12
filters = 16
stride = 1
padding = 0


class Model(nn.Module):
    """Transposed convolution."""

    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels, filters, 3, stride=stride, padding=padding, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
