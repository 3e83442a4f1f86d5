"""Transposed convolution."""

import torch
import torch.nn as nn

batch = 1
channels = 5
height = 9
width = 7
filters = 6
stride = 2
padding = 1


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
