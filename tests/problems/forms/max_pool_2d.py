import torch
import torch.nn as nn

batch = 4
channels = 6
size = 32


class Model(nn.Module):
    """Maximum pool over images, padded and dilated."""

    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [4, 1, 1, 1]
