import torch
import torch.nn as nn

batch_size = 16
channels = 16
height = 64
width = 64


class Model(nn.Module):
    """Layer normalisation over the last three dimensions, with weight and bias."""

    def __init__(self, normalized_shape):
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=normalized_shape)
        # Weights as training leaves them: a candidate that leaves them out is wrong.
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, mean=0.0, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [(channels, height, width)]
