import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 2
channels = 4
size = 6


class Model(nn.Module):
    """Transposed convolution added to a second input, then x * hardswish(x)."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1, 1))

    def forward(self, x, added):
        x = self.conv(x) + added
        return x * F.hardswish(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size, size), torch.rand(batch, 6, 2 * size, 2 * size, 2 * size)]


def get_init_inputs():
    return [channels, 6]
