"""Batch normalisation in training mode."""

import torch
import torch.nn as nn

batch = 64
features = 64
height = 512
width = 512


class Model(nn.Module):
    """Batch normalisation in training mode."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(num_features=features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, features, height, width)]


def get_init_inputs():
    return []
