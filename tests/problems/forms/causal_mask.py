import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 2
heads = 3
length = 24
dimension = 16


class Model(nn.Module):
    """Causal self-attention with a mask that is a buffer, and minus infinity where it is zero."""

    def __init__(self, width, count, longest):
        super().__init__()
        self.projection = nn.Linear(width, 3 * width)
        self.count = count
        self.register_buffer("bias", torch.tril(torch.ones(longest, longest)).view(1, 1, longest, longest))

    def forward(self, x):
        size, steps, width = x.size()
        query, key, value = self.projection(x).split(width, dim=2)
        query, key, value = (part.view(size, steps, self.count, width // self.count).transpose(1, 2)
                             for part in (query, key, value))
        scores = (query @ key.transpose(-2, -1)) * (1.0 / (width // self.count) ** 0.5)
        scores = scores.masked_fill(self.bias[:, :, :steps, :steps] == 0, float("-inf"))
        result = F.softmax(scores, dim=-1) @ value
        return result.transpose(1, 2).contiguous().view(size, steps, width)


def get_inputs():
    return [torch.rand(batch, length, heads * dimension)]


def get_init_inputs():
    return [heads * dimension, heads, 2 * length]
