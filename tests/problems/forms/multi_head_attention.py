import torch
import torch.nn as nn

batch = 2
channels = 16
height = 4
width = 6


class Model(nn.Module):
    """Attention between the pixels of an image, added and normalised; the result is a permuted view."""

    def __init__(self, features, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(features, heads)
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        size, features, rows, columns = x.shape
        x = x.view(size, features, rows * columns).permute(2, 0, 1)
        out, _ = self.attention(x, x, x)
        return self.norm(out + x).permute(1, 2, 0).view(size, features, rows, columns)


def get_inputs():
    return [torch.rand(batch, channels, height, width)]


def get_init_inputs():
    return [channels, 4]
