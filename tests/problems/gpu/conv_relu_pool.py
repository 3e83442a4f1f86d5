import torch
import torch.nn as nn

batch_size = 16
in_channels = 3
out_channels = 32
height = 112
width = 112
kernel_size = 7


class Model(nn.Module):
    """A strided convolution, ReLU and a 3x3 maximum pool of stride 2."""

    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2, padding=3, bias=True)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(torch.relu(self.conv(x)))


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
