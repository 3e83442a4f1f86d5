"""Maximum pool over volumes."""

import torch
import torch.nn as nn

batch = 16
channels = 32
side = 128
kernel_size = 3
stride = 2
padding = 1
dilation = 3


class Model(nn.Module):
    """Maximum pool over volumes."""

    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool3d(kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(batch, channels, side, side, side)]


def get_init_inputs():
    return []
