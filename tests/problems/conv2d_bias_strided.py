import torch
import torch.nn as nn

# Odd sides, a stride and no padding: the output's sides are neither the input's nor multiples of a tile.
batch_size = 3
in_channels = 3
out_channels = 10
height = 37
width = 29
kernel_size = 5


class Model(nn.Module):
    """A strided convolution without padding, with bias."""

    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2, padding=0, bias=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
