import torch
import torch.nn as nn

rows = 24
width = 48


class Model(nn.Module):
    """PyTorch's own root mean square normalisation. Needs PyTorch 2.4 or later."""

    def __init__(self, features):
        super().__init__()
        self.norm = nn.RMSNorm(features, eps=1e-5)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(rows, width)]


def get_init_inputs():
    return [width]
