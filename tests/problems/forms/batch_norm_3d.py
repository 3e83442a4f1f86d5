import torch
import torch.nn as nn

batch = 4
channels = 3
size = 8


class Model(nn.Module):
    """Transposed convolution over volumes and batch normalisation, less the mean of each volume."""

    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm3d(out_channels)

    def forward(self, x):
        x = self.norm(self.conv(x))
        return x - x.mean(dim=(2, 3, 4), keepdim=True)


def get_inputs():
    return [torch.rand(batch, channels, size, size, size)]


def get_init_inputs():
    return [channels, 8, 3]
