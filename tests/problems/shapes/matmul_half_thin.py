"""Product of two matrices in half precision, one step."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(256, 8).half(), torch.randn(8, 4096).half()]


def get_init_inputs():
    return []
