import torch
import torch.nn as nn

sequence = 10
batch = 4
features = 12
hidden_size = 16
layers = 2


class Model(nn.Module):
    """GRU in both directions; holds a first state as an attribute and is handed another, which it uses."""

    def __init__(self, in_features, hidden, count):
        super().__init__()
        self.gru = nn.GRU(in_features, hidden, count, bidirectional=True)
        self.h0 = torch.randn((count * 2, batch, hidden))

    def forward(self, x, h0):
        output, _ = self.gru(x, h0)
        return output


def get_inputs():
    return [torch.rand(sequence, batch, features), torch.rand(2 * layers, batch, hidden_size)]


def get_init_inputs():
    return [features, hidden_size, layers]
