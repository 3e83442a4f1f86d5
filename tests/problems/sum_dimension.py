import torch
import torch.nn as nn

batch_size = 8
reduced = 2048
inner = 256
reduce_dim = 1


class Model(nn.Module):
    """Sum over one dimension, which stays as a dimension of size one."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(x, dim=self.dim, keepdim=True)


def get_inputs():
    return [torch.randn(batch_size, reduced, inner)]


def get_init_inputs():
    return [reduce_dim]
