import torch
import torch.nn as nn

batch = 4
channels = 6
size = 16


class Model(nn.Module):
    """Transposed convolution over images with output padding and bias."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding,
                                       output_padding=output_padding)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [channels, 8, 3, 2, 1, 1]
