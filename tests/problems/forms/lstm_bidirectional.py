import torch
import torch.nn as nn

batch = 4
sequence = 10
features = 12
hidden_size = 16
layers = 2


class Model(nn.Module):
    """LSTM in both directions, and a linear layer on the last step."""

    def __init__(self, in_features, hidden, count, out_features):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, count, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, out_features)

    def forward(self, x, h0, c0):
        out, _ = self.lstm(x, (h0, c0))
        return self.head(out[:, -1, :])


def get_inputs():
    return [torch.rand(batch, sequence, features), torch.rand(2 * layers, batch, hidden_size),
            torch.rand(2 * layers, batch, hidden_size)]


def get_init_inputs():
    return [features, hidden_size, layers, 5]
