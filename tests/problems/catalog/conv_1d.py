"""Dilated convolution of lines."""

import torch
import torch.nn as nn

batch = 2
channels = 8
length = 64
filters = 16
stride = 1
dilation = 2


class Model(nn.Module):
    """Dilated convolution of lines."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(channels, filters, 3, stride=stride, padding=0, dilation=dilation)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return []
