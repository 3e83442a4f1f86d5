"""Batch normalisation in training mode."""

import torch
import torch.nn as nn

batch = 3
features = 6
height = 7
width = 9


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
