import torch
import torch.nn as nn

batch = 4
channels = 6
height = 24
width = 40


class Model(nn.Module):
    """Convolution over images with a kernel, padding and dilation that differ by dimension, with bias."""

    def __init__(self, in_channels, out_channels, kernel_size, padding, dilation):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch, channels, height, width)]


def get_init_inputs():
    return [channels, 8, (5, 3), (2, 4), (2, 3)]
