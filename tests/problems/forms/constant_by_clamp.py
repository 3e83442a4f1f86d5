import torch
import torch.nn as nn

batch = 2
channels = 3
size = 8


class Model(nn.Module):
    """Convolution, minimum with 0, clamp to 0 and 1, live dropout: zero, whatever the input and the draw."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = torch.min(self.conv(x), torch.tensor(0.0, device=x.device))
        return self.dropout(torch.clamp(x, min=0.0, max=1.0))


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [channels, 8]
