import torch
import torch.nn as nn

sequence = 6
batch = 8
features = 24
hidden_size = 16


class Model(nn.Module):
    """A recurrent network over a sequence, its steps written as a loop; outputs stacked."""

    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.i2h = nn.Linear(in_features + hidden, hidden)
        self.h2o = nn.Linear(hidden, out_features)

    def forward(self, x, h0):
        outputs = []
        hidden = h0
        for step in range(x.size(0)):
            hidden = torch.tanh(self.i2h(torch.cat((x[step], hidden), dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs, dim=0)


def get_inputs():
    return [torch.rand(sequence, batch, features), torch.rand(batch, hidden_size)]


def get_init_inputs():
    return [features, hidden_size, 12]
