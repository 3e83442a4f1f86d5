"""Depthwise convolution."""

import torch
import torch.nn as nn

batch = 2
channels = 8
height = 16
width = 16
stride = 1
padding = 1


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
