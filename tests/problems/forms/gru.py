import torch
import torch.nn as nn

sequence = 10
batch = 4
features = 12
hidden_size = 16
layers = 2


class Model(nn.Module):
    """GRU over (sequence, batch, features), first state as an input; answers with the last state."""

    def __init__(self, in_features, hidden, count):
        super().__init__()
        self.gru = nn.GRU(in_features, hidden, count, bias=True, batch_first=False, dropout=0.0)

    def forward(self, x, h0):
        _, last = self.gru(x, h0)
        return last


def get_inputs():
    return [torch.rand(sequence, batch, features), torch.rand(layers, batch, hidden_size)]


def get_init_inputs():
    return [features, hidden_size, layers]
