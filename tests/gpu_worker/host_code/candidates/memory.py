# expect: out_of_memory | forward()
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        kept = []
        while True:
            kept.append(torch.ones(1 << 26))
