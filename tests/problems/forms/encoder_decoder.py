import torch
import torch.nn as nn

batch = 2
channels = 4
height = 16
width = 24


class Model(nn.Module):
    """One level of an encoder and decoder with a skip: batch normalisation, softmax over the last dimension, pool,
    transposed convolution, join."""

    def __init__(self, in_channels, features):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(in_channels, features, 3, padding=1), nn.BatchNorm2d(features),
                                  nn.Softmax(dim=-1))
        self.pool = nn.MaxPool2d(2, 2)
        self.middle = nn.Conv2d(features, 2 * features, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * features, features, 2, stride=2)
        self.last = nn.Conv2d(2 * features, 3, 1)

    def forward(self, x):
        kept = self.down(x)
        return self.last(torch.cat((self.up(self.middle(self.pool(kept))), kept), dim=1))


def get_inputs():
    return [torch.rand(batch, channels, height, width)]


def get_init_inputs():
    return [channels, 6]
