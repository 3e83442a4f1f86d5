import torch
import torch.nn as nn

size = 64


class Model(nn.Module):
    """Linear layer, dropout and softmax: dropout is live in training mode."""

    def __init__(self, features, p):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return torch.softmax(self.dropout(self.linear(x)), dim=1)


def get_inputs():
    return [torch.rand(size, size)]


def get_init_inputs():
    return [size, 0.2]
