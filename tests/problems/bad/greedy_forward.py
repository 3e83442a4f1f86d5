import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cdist(x.expand(1 << 20, 4), x.expand(1 << 20, 4))


def get_inputs():
    return [torch.rand(1, 4)]


def get_init_inputs():
    return []
