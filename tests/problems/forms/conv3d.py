import torch
import torch.nn as nn

batch = 2
channels = 3
size = 12


class Model(nn.Module):
    """Convolution over volumes with bias."""

    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size, size)]


def get_init_inputs():
    return [channels, 8, (3, 5, 7)]
