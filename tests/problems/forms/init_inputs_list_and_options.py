import torch
import torch.nn as nn

rows = 48
columns = 64


class Model(nn.Module):
    """A constructor that really takes a list and a dictionary."""

    def __init__(self, widths, options):
        super().__init__()
        layers = []
        for before, after in zip([columns] + widths, widths):
            layers += [nn.Linear(before, after, bias=options.get("bias", True)), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return [[48, 32], {"bias": False}]
