"""Transposed convolution."""

import torch
import torch.nn as nn

batch = 8
channels = 64
height = 1024
width = 1024
filters = 64
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
