# expect: wrong_output | return a plain torch.Tensor
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        return torch.relu(self.linear(x) * self.scale).as_subclass(Later)


class Later(torch.Tensor):
    """Would compute when somebody looks."""
