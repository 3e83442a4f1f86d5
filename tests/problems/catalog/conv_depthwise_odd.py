"""Depthwise convolution."""

import torch
import torch.nn as nn

batch = 1
channels = 5
height = 13
width = 17
stride = 2
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
