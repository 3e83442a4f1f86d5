"""Maximum pool over images."""

import torch
import torch.nn as nn

batch = 1
channels = 3
height = 19
width = 23
kernel_size = 3
stride = 2
padding = 0
dilation = 2


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
