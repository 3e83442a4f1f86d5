import torch
import torch.nn as nn

batch = 4
features = 16
height = 12
width = 20


class Model(nn.Module):
    """Layer normalisation over all dimensions but the first."""

    def __init__(self, normalized_shape):
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(batch, features, height, width)]


def get_init_inputs():
    return [(features, height, width)]
