# expect: wrong_output | --frozen-weights
# Right for the weights that its constructor saw only.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.packed = self.linear.weight.detach().t().contiguous() * scale
        self.scale = scale

    def forward(self, x):
        return torch.relu(x @ self.packed + self.linear.bias * self.scale)
