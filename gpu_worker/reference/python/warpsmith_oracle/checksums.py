"""64-bit checksums of bytes under a secret key: whether a buffer still holds what was put there.

The sum of a keyed mix of each 8-byte word and its place, modulo 2^64; the last word is filled up with zeros. Any
changed word changes the sum but for a chance of 2^-64, as long as the key is secret. On a GPU kernels.cu computes the
same in one pass.
"""

import torch

_GOLDEN = 0x9E3779B97F4A7C15
_CHUNK = 1 << 22  # words


def signed(value):
    """64 bits as PyTorch's int64 has them."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def unsigned(value):
    return value & ((1 << 64) - 1)


def _shift(values, bits):
    """A logical shift to the right."""
    return (values >> bits) & ((1 << (64 - bits)) - 1)


def _mix(values):
    """splitmix64's finaliser."""
    values = (values ^ _shift(values, 30)) * signed(0xBF58476D1CE4E5B9)
    values = (values ^ _shift(values, 27)) * signed(0x94D049BB133111EB)
    return values ^ _shift(values, 31)


def checksum(data, key):
    """Of a flat byte tensor that starts at a multiple of 8 bytes."""
    whole = data.numel() // 8
    words, total = data[:whole * 8].view(torch.int64), 0
    for start in range(0, whole, _CHUNK):
        part = words[start:start + _CHUNK]
        total += _sum(part, start, key)
    if data.numel() % 8:
        last = torch.zeros(8, dtype=torch.uint8, device=data.device)
        last[:data.numel() % 8] = data[whole * 8:]
        total += _sum(last.view(torch.int64), whole, key)
    return unsigned(total)


def _sum(part, start, key):
    places = torch.arange(start + 1, start + 1 + part.numel(), dtype=torch.int64, device=part.device)
    return int(_mix(part ^ (places * signed(_GOLDEN) + signed(key))).sum())
