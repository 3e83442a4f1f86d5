"""Depthwise convolution."""

import torch
import torch.nn as nn

batch = 16
channels = 64
height = 512
width = 512
stride = 1
padding = 0


class Model(nn.Module):
    """Depthwise convolution."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, stride=stride, padding=padding, groups=channels, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
