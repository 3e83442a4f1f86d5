"""The first convolution of a large image classifier: few channels in, a wide filter, a long stride."""

import torch

batch = 100
channels = 3
size = 224
filters = 96
kernel = 11
stride = 4
padding = 2


class Model(torch.nn.Module):
    """Convolution with bias."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(in_channels, out_channels, kernel_size=kernel, stride=stride, padding=padding)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs():
    return [channels, filters]
