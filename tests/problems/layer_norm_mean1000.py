import torch
import torch.nn as nn

batch_size = 4
channels = 16
height = 32
width = 32


class Model(nn.Module):
    """Layer normalisation of inputs far from zero: a variance taken as E[x*x] - E[x]*E[x] loses every digit."""

    def __init__(self, normalized_shape):
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs():
    return [1000.0 + 0.1 * torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [(channels, height, width)]
