"""A convolution, a rectifier and a maximum pool that one kernel may do in one pass over the image."""

import torch

batch = 100
channels = 3
size = 224
filters = 96
kernel = 11
stride = 4
padding = 2


class Model(torch.nn.Module):
    """Convolution with bias, ReLU, maximum pool of 3 with stride 2."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(in_channels, out_channels, kernel_size=kernel, stride=stride, padding=padding)
        self.pool = torch.nn.MaxPool2d(kernel_size=3, stride=2)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x)))


def get_inputs():
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs():
    return [channels, filters]
