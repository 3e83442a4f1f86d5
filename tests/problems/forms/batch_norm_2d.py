import torch
import torch.nn as nn

batch = 8
features = 16
height = 12
width = 20


class Model(nn.Module):
    """Batch normalisation over images in training mode."""

    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm2d(num_features=features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(batch, features, height, width)]


def get_init_inputs():
    return [features]
