"""Bytes that a candidate cannot mistake for data: poison for outputs and scratch, large values, guard zones.

- Floating poison is a signalling NaN with a secret payload. Arithmetic quiets it and so changes its bits: an output
  that still holds it was not written, and one that was computed from it shows as not finite. Outputs and scratch, and
  the two patterns, have different payloads.
- Booleans get a byte that is neither 0 nor 1; integers a secret word of their width.
- Guards are pseudo-random and finite in every floating type (bit 6 of each byte is clear, which keeps exponents small),
  cut at different places of one secret pool, so that no two guards of a trial are alike.
"""

import os

import torch

GUARD_BYTES = 64 << 10
_POOL_BYTES = 4 << 20
_STEP = 64

# Exponent all ones, quiet bit clear, payload from the low bits.
_NAN = {"float16": (2, 0x7C00, 0x1FF), "bfloat16": (2, 0x7F80, 0x3F), "float32": (4, 0x7F800000, 0x3FFFFF),
        "float64": (8, 0x7FF0000000000000, 0x7FFFFFFFFFFFF)}
_LARGE = {"float16": 2.0 ** 14, "bfloat16": 2.0 ** 100, "float32": 2.0 ** 100, "float64": 2.0 ** 500}
_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _signed(bits, width):
    return bits - (1 << (8 * width)) if width > 1 and bits >= 1 << (8 * width - 1) else bits


class Fills:
    """The secrets of one process. Patterns: 0 and 1 for outputs, 2 for scratch."""

    def __init__(self):
        self._payloads = {}
        self._pool = torch.frombuffer(bytearray(byte & 0xBF for byte in os.urandom(_POOL_BYTES)), dtype=torch.uint8)
        self._next_guard = int.from_bytes(os.urandom(4), "little")

    def poison(self, dtype, pattern):
        """The fill as a signed integer of the dtype's width."""
        if dtype == "bool":
            return (0xA5, 0x5A, 0x3C)[pattern]
        if dtype not in self._payloads:
            self._payloads[dtype] = self._draw(dtype)
        return self._payloads[dtype][pattern]

    @staticmethod
    def _draw(dtype):
        chosen = []
        while len(chosen) < 3:
            random = int.from_bytes(os.urandom(8), "little")
            if dtype in _NAN:
                width, exponent, mask = _NAN[dtype]
                value = _signed(exponent | (random & mask) | (len(chosen) % 2) << (8 * width - 1), width)
                usable = random & mask
            else:
                width = getattr(torch, dtype).itemsize if hasattr(torch.uint8, "itemsize") else (
                    torch.empty(0, dtype=getattr(torch, dtype)).element_size())
                value = _signed(random & ((1 << (8 * width)) - 1), width)
                usable = value
            if usable and value not in chosen:
                chosen.append(value)
        return chosen

    def fill_poison(self, payload, dtype, pattern):
        words(payload, dtype).fill_(self.poison(dtype, pattern))

    def fill_large(self, payload, dtype):
        """Large and finite, of either sign in turn, so that neither a maximum nor a minimum with zero hides it."""
        if dtype in _LARGE:
            values = payload.view(getattr(torch, dtype))
            values[::2] = _LARGE[dtype]
            values[1::2] = -_LARGE[dtype]
        elif dtype != "bool":
            payload.fill_(0x3F)
        else:
            payload.fill_(1)

    def guard(self, size):
        """`size` bytes (at most 2 * GUARD_BYTES) unlike those handed out before in this trial."""
        places = (_POOL_BYTES - 2 * GUARD_BYTES) // _STEP
        self._next_guard = (self._next_guard + 1021) % places
        start = self._next_guard * _STEP
        return self._pool[start:start + size]


def words(payload, dtype):
    """Payload bytes as integers of the dtype's width."""
    if dtype == "bool":
        return payload
    return payload.view(_WORDS[torch.empty(0, dtype=getattr(torch, dtype)).element_size()])
