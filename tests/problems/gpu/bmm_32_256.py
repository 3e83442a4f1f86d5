import torch
import torch.nn as nn

batch_size = 32
M = 256
K = 256
N = 256


class Model(nn.Module):
    """Products of two batches of matrices."""

    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.bmm(A, B)


def get_inputs():
    return [torch.randn(batch_size, M, K), torch.randn(batch_size, K, N)]


def get_init_inputs():
    return []
