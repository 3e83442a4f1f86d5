"""A convolution with a stride of four, a rectifier and a maximum pool."""

import torch
import torch.nn as nn

batch = 5
channels = 3
height = 63
width = 228
filters = 96
stride = 4
padding = 2


class Model(nn.Module):
    """A convolution with a stride of four, a rectifier and a maximum pool."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, kernel_size=11, stride=stride, padding=padding)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
