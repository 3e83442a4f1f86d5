import torch
import torch.nn as nn

batch = 4
channels = 6
length = 100


class Model(nn.Module):
    """Convolution over sequences, strided and dilated, without bias."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, dilation):
        super().__init__()
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size, stride=stride, dilation=dilation, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(batch, channels, length)]


def get_init_inputs():
    return [channels, 8, 3, 3, 4]
