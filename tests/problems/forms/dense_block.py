import torch
import torch.nn as nn

batch = 4
channels = 8
size = 12


class Model(nn.Module):
    """A dense block: each layer sees everything before it, joined; dropout of probability zero."""

    def __init__(self, layers, in_features, growth):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(in_features + index * growth), nn.ReLU(inplace=True),
                          nn.Conv2d(in_features + index * growth, growth, 3, padding=1, bias=False), nn.Dropout(0.0))
            for index in range(layers))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, 1)
        return x


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [3, channels, 4]
