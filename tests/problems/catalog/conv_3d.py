"""Convolution of volumes."""

import torch
import torch.nn as nn

batch = 1
channels = 3
side = 10
filters = 16
stride = 1
padding = 0


class Model(nn.Module):
    """Convolution of volumes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(channels, filters, 3, stride=stride, padding=padding, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, side, side, side)]


def get_init_inputs():
    return []
