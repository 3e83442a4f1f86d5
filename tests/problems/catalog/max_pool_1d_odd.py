"""Maximum pool over a line."""

import torch
import torch.nn as nn

batch = 3
channels = 5
length = 101
kernel_size = 3
stride = 2
padding = 1
dilation = 1


class Model(nn.Module):
    """Maximum pool over a line."""

    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(batch, channels, length)]


def get_init_inputs():
    return []
