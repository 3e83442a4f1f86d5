import torch
import torch.nn as nn

batch = 4
channels = 8
size = 16


class Model(nn.Module):
    """An inverted residual with squeeze and excitation: expand, depthwise, weigh the channels, project."""

    def __init__(self, in_channels, out_channels, ratio):
        super().__init__()
        hidden = in_channels * ratio
        self.expand = nn.Sequential(nn.Conv2d(in_channels, hidden, 1, bias=False), nn.BatchNorm2d(hidden),
                                    nn.ReLU6(inplace=True))
        self.depthwise = nn.Sequential(nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False),
                                       nn.BatchNorm2d(hidden), nn.Hardswish(inplace=True))
        self.excite = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, 8, 1), nn.ReLU(),
                                    nn.Conv2d(8, hidden, 1), nn.Sigmoid())
        self.project = nn.Sequential(nn.Conv2d(hidden, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels))

    def forward(self, x):
        out = self.depthwise(self.expand(x))
        out = out * self.excite(out)
        return x + self.project(out)


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [channels, channels, 4]
