import torch
import torch.nn as nn

batch = 2
length = 12
width = 24


class Model(nn.Module):
    """Two layers of a transformer's encoder without dropout."""

    def __init__(self, features, heads, layers):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d_model=features, nhead=heads, dim_feedforward=48, dropout=0.0,
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers)

    def forward(self, x):
        return self.encoder(x)


def get_inputs():
    return [torch.rand(batch, length, width)]


def get_init_inputs():
    return [width, 3, 2]
