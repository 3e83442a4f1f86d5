import torch
import torch.nn as nn

batch = 4
sequence = 10
features = 12
hidden_size = 16
layers = 2


class Model(nn.Module):
    """LSTM with its states as inputs; a linear layer on the last step; answers with the last cell state as well."""

    def __init__(self, in_features, hidden, count, out_features):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, count, batch_first=True, bias=True, dropout=0.0)
        self.head = nn.Linear(hidden, out_features)

    def forward(self, x, h0, c0):
        out, state = self.lstm(x, (h0, c0))
        return self.head(out[:, -1, :]), state[1]


def get_inputs():
    return [torch.rand(batch, sequence, features), torch.rand(layers, batch, hidden_size),
            torch.rand(layers, batch, hidden_size)]


def get_init_inputs():
    return [features, hidden_size, layers, 5]
