import torch
import torch.nn as nn

rows = 16
columns = 16384


class Model(nn.Module):
    """Hinge loss against targets of -1 and 1 that are broadcast over rows: near one on average, as there are as many of
    either sign."""

    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def get_inputs():
    return [torch.rand(rows, columns), torch.randint(0, 2, (columns,)).float() * 2 - 1]


def get_init_inputs():
    return []
