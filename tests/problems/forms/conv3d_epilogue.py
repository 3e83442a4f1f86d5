import torch
import torch.nn as nn

batch = 2
channels = 3
size = 10


class Model(nn.Module):
    """Convolution over volumes, softmax over channels, two maximum pools."""

    def __init__(self, in_channels, out_channels, kernel_size, pool):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.pool1 = nn.MaxPool3d(pool)
        self.pool2 = nn.MaxPool3d(pool)

    def forward(self, x):
        return self.pool2(self.pool1(torch.softmax(self.conv(x), dim=1)))


def get_inputs():
    return [torch.rand(batch, channels, size, size, size)]


def get_init_inputs():
    return [channels, 8, 3, 2]
