import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 8
rows = 10
features = 16
clusters = 6
ghosts = 1


class Model(nn.Module):
    """Soft assignment to clusters, of which ghosts are dropped; residuals, normalised twice; batch normalisation over
    assignments."""

    def __init__(self, count, width, extra):
        super().__init__()
        self.count = count
        self.clusters = nn.Parameter(torch.randn(width, count + extra) / width ** 0.5)
        self.norm = nn.BatchNorm1d(count + extra)
        self.clusters2 = nn.Parameter(torch.randn(1, width, count) / width ** 0.5)

    def forward(self, x, mask=None):
        steps = x.size(1)
        flat = x.view(-1, x.size(2))
        weights = F.softmax(self.norm(flat @ self.clusters), dim=1)[:, :self.count].view(-1, steps, self.count)
        residual = weights.sum(dim=1, keepdim=True) * self.clusters2
        vlad = (weights.transpose(1, 2) @ x).transpose(1, 2) - residual
        return F.normalize(F.normalize(vlad).reshape(x.size(0), -1))


def get_inputs():
    return [torch.rand(batch, rows, features)]


def get_init_inputs():
    return [clusters, features, ghosts]
