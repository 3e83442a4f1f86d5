"""Maximum pool over images."""

import torch
import torch.nn as nn

batch = 2
channels = 4
height = 32
width = 32
kernel_size = 4
stride = 1
padding = 1
dilation = 1


class Model(nn.Module):
    """Maximum pool over images."""

    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return []
