"""Layer normalisation of few, very long samples: a reduction over 4 million elements each, bound by memory."""

import torch

batch = 16
features = 64
height = 256
width = 256


class Model(torch.nn.Module):
    """Layer normalisation over all dimensions but the first."""

    def __init__(self, normalized_shape):
        super().__init__()
        self.norm = torch.nn.LayerNorm(normalized_shape)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch, features, height, width)]


def get_init_inputs():
    return [(features, height, width)]
