import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 2
size = 8
window = 4
shift = 2
width = 12


class Model(nn.Module):
    """A block with shifted windows: roll, cut into windows, cosine attention with a learnt scale and a mask, roll
    back."""

    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(features, 3 * features, bias=False)
        self.scale = nn.Parameter(torch.log(10 * torch.ones(heads, 1, 1)))
        self.norm = nn.LayerNorm(features)
        regions = torch.zeros(1, size, size, 1)
        for number, rows in enumerate((slice(0, -window), slice(-window, -shift), slice(-shift, None))):
            regions[:, rows] += number
        regions = self._windows(regions).view(-1, window * window)
        difference = regions.unsqueeze(1) - regions.unsqueeze(2)
        self.register_buffer("mask", difference.masked_fill(difference != 0, -100.0))

    @staticmethod
    def _windows(x):
        count, height, side, features = x.shape
        x = x.view(count, height // window, window, side // window, window, features)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window * window, features)

    def forward(self, x):
        count, _, features = x.shape
        rolled = torch.roll(x.view(count, size, size, features), shifts=(-shift, -shift), dims=(1, 2))
        windows = self._windows(rolled)
        qkv = self.qkv(windows).reshape(-1, window * window, 3, self.heads, features // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
        scores = scores * torch.clamp(self.scale, max=4.6).exp()
        masked = scores.view(count, -1, self.heads, window * window, window * window) + self.mask[None, :, None]
        scores = F.softmax(masked.view(-1, self.heads, window * window, window * window), dim=-1)
        out = (scores @ value).transpose(1, 2).reshape(count, size // window, size // window, window, window, features)
        out = out.permute(0, 1, 3, 2, 4, 5).reshape(count, size, size, features)
        out = torch.roll(out, shifts=(shift, shift), dims=(1, 2)).reshape(count, size * size, features)
        return x + self.norm(out)


def get_inputs():
    return [torch.rand(batch, size * size, width)]


def get_init_inputs():
    return [width, 3]
