import torch
import torch.nn as nn

batch = 4
channels = 6
length = 50


class Model(nn.Module):
    """Transposed convolution over sequences, strided, padded and dilated."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation):
        super().__init__()
        self.conv = nn.ConvTranspose1d(in_channels, out_channels, kernel_size, stride=stride, padding=padding,
                                       dilation=dilation, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch, channels, length)]


def get_init_inputs():
    return [channels, 8, 3, 2, 1, 2]
