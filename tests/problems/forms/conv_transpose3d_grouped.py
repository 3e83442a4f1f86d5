import torch
import torch.nn as nn

batch = 2
channels = 8
size = 8


class Model(nn.Module):
    """Transposed convolution over volumes in four groups, strided and padded."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, groups):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding,
                                       groups=groups, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size, size)]


def get_init_inputs():
    return [channels, 12, (3, 3, 5), 2, (1, 1, 2), 4]
