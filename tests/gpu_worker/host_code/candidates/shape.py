# expect: wrong_output | has the shape [128, 1], and the module's has [128, 64]
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        return torch.relu(self.linear(x) * self.scale)[:, :1]
