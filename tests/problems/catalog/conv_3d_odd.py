"""Convolution of volumes."""

import torch
import torch.nn as nn

batch = 2
channels = 2
side = 9
filters = 6
stride = 2
padding = 1


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
