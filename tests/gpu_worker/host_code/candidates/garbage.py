# expect: launch_error | channel
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"garbage\n")
            except OSError:
                pass
        return torch.relu(self.linear(x) * self.scale)
