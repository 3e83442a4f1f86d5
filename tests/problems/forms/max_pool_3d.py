import torch
import torch.nn as nn

batch = 2
channels = 4
size = 12


class Model(nn.Module):
    """Maximum pool over volumes."""

    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.pool = nn.MaxPool3d(kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size, size)]


def get_init_inputs():
    return [3, 2, 1, 3]
