import torch
import torch.nn as nn

batch = 4
features = 16
size = 12


class Model(nn.Module):
    """Group normalisation."""

    def __init__(self, features, groups):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups=groups, num_channels=features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(batch, features, size, size)]


def get_init_inputs():
    return [features, 4]
