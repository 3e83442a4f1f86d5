# expect: input_modified | x is read only and was changed
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        result = torch.relu(self.linear(x) * self.scale)
        x.zero_()
        return result
