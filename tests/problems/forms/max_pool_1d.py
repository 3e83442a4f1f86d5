import torch
import torch.nn as nn

batch = 4
channels = 6
length = 128


class Model(nn.Module):
    """Maximum pool over sequences, dilated."""

    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(batch, channels, length)]


def get_init_inputs():
    return [8, 1, 4, 3]
