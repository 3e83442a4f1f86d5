import torch
import torch.nn as nn

batch = 2
size = 32


class Model(nn.Module):
    """Convolutions and pools in a row, then linear layers with dropout of probability zero."""

    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2, 2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(inplace=True), nn.AvgPool2d(2, 2))
        self.classifier = nn.Sequential(nn.Linear(16 * 16, 32), nn.ReLU(), nn.Dropout(p=0.0), nn.Linear(32, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def get_inputs():
    return [torch.rand(batch, 3, size, size)]


def get_init_inputs():
    return [10]
