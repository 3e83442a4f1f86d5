"""Scaled dot-product attention in half precision, not causal. Needs PyTorch 2.x."""

import torch
import torch.nn.functional as F

batch = 4
heads = 32
length = 4096
dimension = 128


class Model(torch.nn.Module):
    """softmax(q k^T / sqrt(dimension)) v for each head."""

    def forward(self, query, key, value):
        return F.scaled_dot_product_attention(query, key, value)


def get_inputs():
    return [torch.randn(batch, heads, length, dimension).half() for _ in range(3)]


def get_init_inputs():
    return []
