import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 48
columns = 64


class Model(nn.Module):
    """Kullback-Leibler divergence between two sets of distributions."""

    def forward(self, predictions, targets):
        return F.kl_div(torch.log(predictions), targets, reduction="batchmean")


def get_inputs():
    return [torch.rand(rows, columns).softmax(dim=-1), torch.rand(rows, columns).softmax(dim=-1)]


def get_init_inputs():
    return []
