"""Instance normalisation."""

import torch
import torch.nn as nn

batch = 2
features = 8
height = 16
width = 16


class Model(nn.Module):
    """Instance normalisation."""

    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm2d(num_features=features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, features, height, width)]


def get_init_inputs():
    return []
