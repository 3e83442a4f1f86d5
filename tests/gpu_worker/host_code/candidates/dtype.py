# expect: wrong_output | has the type torch.float64, and the module's has torch.float32
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        return torch.relu(self.linear(x) * self.scale).double()
