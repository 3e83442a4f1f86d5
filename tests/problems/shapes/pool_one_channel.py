"""A convolution with a stride of four, a rectifier and a maximum pool."""

import torch
import torch.nn as nn

batch = 2
channels = 1
height = 75
width = 122
filters = 33
stride = 4
padding = 0


class Model(nn.Module):
    """A convolution with a stride of four, a rectifier and a maximum pool."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, kernel_size=(9, 6), stride=stride, padding=padding)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x)))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
