import torch
import torch.nn as nn

batch = 4
channels = 6
size = 44


class Model(nn.Module):
    """Average pool over images."""

    def __init__(self, kernel_size):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel_size)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [11]
