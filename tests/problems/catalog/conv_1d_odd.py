"""Dilated convolution of lines."""

import torch
import torch.nn as nn

batch = 3
channels = 5
length = 53
filters = 7
stride = 3
dilation = 4


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
