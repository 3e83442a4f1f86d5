"""Hinge loss."""

import torch
import torch.nn as nn

rows = 32
columns = 256


class Model(nn.Module):
    """Hinge loss."""

    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def get_inputs():
    return [torch.randn(rows, columns), torch.randn(rows, columns).sign()]


def get_init_inputs():
    return []
