# expect: ok
# The same parameters in the same order under other names; a size that only the problem's file defines.
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(outputs, inputs))
        self.b = nn.Parameter(torch.zeros(outputs))
        self.scale = scale

    def forward(self, x):
        assert x.shape[0] == rows
        return F.relu(F.linear(x, self.w, self.b) * self.scale)
