import torch
import torch.nn as nn

rows = 64
features = 48


class Model(nn.Module):
    """Linear layer and batch normalisation in training mode: batch statistics are used, running ones are changed."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.BatchNorm1d(out_features)

    def forward(self, x):
        return self.norm(self.linear(x))


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return [features, 32]
