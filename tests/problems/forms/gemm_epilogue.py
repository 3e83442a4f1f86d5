import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 32
features = 64


class Model(nn.Module):
    """Linear layer, bias, clamp, LogSumExp over a row and Mish."""

    def __init__(self, in_features, out_features, scale, low, high):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale, self.low, self.high = scale, low, high
        self.bias = nn.Parameter(torch.randn(out_features))

    def forward(self, x):
        x = torch.clamp(self.linear(x) * self.scale + self.bias, self.low, self.high)
        x = torch.logsumexp(x + x, dim=1, keepdim=True)
        return x * F.mish(x)


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return [features, 48, 2.0, -10.0, 10.0]
