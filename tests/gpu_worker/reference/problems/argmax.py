import torch
import torch.nn as nn


class Model(nn.Module):
    """Indexes of extremes; the inputs are integers as floats, so that there are ties."""

    def forward(self, x):
        return torch.argmax(x, dim=1), torch.topk(x, 3, dim=1).indices


def get_inputs():
    return [torch.randint(0, 5, (20, 30)).float()]


def get_init_inputs():
    return []
