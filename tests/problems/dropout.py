import torch
import torch.nn as nn

rows = 32
columns = 256


class Model(nn.Module):
    """Live dropout: two runs on equal inputs differ, unless the module is in eval mode."""

    def __init__(self, p: float):
        super().__init__()
        self.dropout = nn.Dropout(p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(x) * 2.0


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [0.5]
