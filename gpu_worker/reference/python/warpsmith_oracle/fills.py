"""Bytes that a candidate cannot mistake for data: poison for outputs and scratch, large values, guard zones.

- Floating poison is a signalling NaN with a secret payload. Arithmetic quiets it and so changes its bits: an output
  that still holds it was not written, and one that was computed from it shows as not finite. Outputs and scratch, and
  the two patterns, have different payloads.
- Booleans get a byte that is neither 0 nor 1; integers a secret word of their width.
- Guards are pseudo-random and finite in every floating type (bit 6 of each byte is clear, which keeps exponents small),
  no two of a trial alike, and new with each trial. On a GPU they come from a secret key and are checked in one launch
  for all buffers; by PyTorch's operators they are cut at different places of one secret pool.
"""

import os
import struct

import torch

GUARD_BYTES = 64 << 10
_POOL_BYTES = 4 << 20
_STEP = 64
_LARGE_WORD = {"float16": "<e", "float32": "<f", "float64": "<d"}

# Exponent all ones, quiet bit clear, payload from the low bits.
_NAN = {"float16": (2, 0x7C00, 0x1FF), "bfloat16": (2, 0x7F80, 0x3F), "float32": (4, 0x7F800000, 0x3FFFFF),
        "float64": (8, 0x7FF0000000000000, 0x7FFFFFFFFFFFF)}
NAN_TYPES = frozenset(_NAN)  # no value that was computed is equal to their poison
_LARGE = {"float16": 2.0 ** 14, "bfloat16": 2.0 ** 100, "float32": 2.0 ** 100, "float64": 2.0 ** 500}
# Types of a plan that PyTorch has from 2.1 or 2.3 on.
_YOUNG = {"uint16": 2, "uint32": 4, "uint64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}
_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _signed(bits, width):
    return bits - (1 << (8 * width)) if width > 1 and bits >= 1 << (8 * width - 1) else bits


class Fills:
    """The secrets of one candidate's trials. Patterns: 0 and 1 for outputs, 2 for scratch. `kernels`: kernels.Kernels,
    or None for PyTorch's own operators."""

    def __init__(self, kernels=None):
        self._kernels = kernels
        self._payloads = {}

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
                width = _word_bytes(dtype)
                value = _signed(random & ((1 << (8 * width)) - 1), width)
                usable = value
            if usable and value not in chosen:
                chosen.append(value)
        return chosen

    def fill_poison(self, payload, dtype, pattern):
        if self._kernels is not None:
            width = _word_bytes(dtype)
            word = (self.poison(dtype, pattern) & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
            self._kernels.fill_pattern(payload, word * (16 // width))
        else:
            words(payload, dtype).fill_(self.poison(dtype, pattern))

    def fill_large(self, payload, dtype):
        """Large and finite, of either sign in turn, so that neither a maximum nor a minimum with zero hides it."""
        if self._kernels is not None:
            self._kernels.fill_pattern(payload, large_pattern(dtype))
        elif dtype in _LARGE:
            values = payload.view(getattr(torch, dtype))
            values[::2] = _LARGE[dtype]
            values[1::2] = -_LARGE[dtype]
        elif dtype != "bool":
            payload.fill_(0x3F)
        else:
            payload.fill_(1)


def large_pattern(dtype):
    """16 bytes of Fills.fill_large."""
    if dtype == "bool":
        return b"\x01" * 16
    if dtype not in _LARGE:
        return b"\x3f" * 16
    if dtype == "bfloat16":  # the upper half of a float32
        pair = b"".join(struct.pack("<f", sign * _LARGE[dtype])[2:] for sign in (1, -1))
    else:
        pair = b"".join(struct.pack(_LARGE_WORD[dtype], sign * _LARGE[dtype]) for sign in (1, -1))
    return pair * (16 // len(pair))


def element_bytes(dtype):
    """Of a type by its name in a plan, which knows some that PyTorch may not."""
    return _YOUNG.get(dtype) or torch.empty(0, dtype=getattr(torch, dtype)).element_size()


def _word_bytes(dtype):
    """The widest integer has half of a complex128."""
    return min(element_bytes(dtype), 8)


def words(payload, dtype):
    """Payload bytes as integers of the dtype's width, at most 64 bits."""
    if dtype == "bool":
        return payload
    return payload.view(_WORDS[_word_bytes(dtype)])


class PoolGuards:
    """Guards by PyTorch's operators."""

    def __init__(self, device="cpu"):
        pool = torch.frombuffer(bytearray(os.urandom(_POOL_BYTES)), dtype=torch.uint8)
        self._pool = (pool & 0xBF).to(device)
        self._next = int.from_bytes(os.urandom(4), "little")
        self._expected = {}  # buffer -> what its two guards must hold

    def _guard(self, size):
        """`size` bytes unlike those handed out before in this trial."""
        places = (_POOL_BYTES - size) // _STEP
        self._next += 1021
        start = self._next % places * _STEP
        return self._pool[start:start + size]

    def fill(self, buffers):
        for buffer in buffers:
            expected = (self._guard(buffer.before.numel()), self._guard(buffer.after.numel()))
            buffer.before.copy_(expected[0])
            buffer.after.copy_(expected[1])
            self._expected[buffer] = expected

    def damage(self, buffers):
        """Where a guard was written, for people; empty where all are whole."""
        for buffer in buffers:
            before, after = self._expected[buffer]
            if not torch.equal(buffer.before, before):
                wrong = buffer.before != before
                last = wrong.numel() - int(wrong.flip(0).to(torch.uint8).argmax())
                return buffer.place_of_damage(int(wrong.sum()), last, 0, 0)
            if not torch.equal(buffer.after, after):
                wrong = buffer.after != after
                first = GUARD_BYTES + buffer.size + int(wrong.to(torch.uint8).argmax())
                return buffer.place_of_damage(0, 0, int(wrong.sum()), first)
        return ""


class KernelGuards:
    """Guards of device buffers, all buffers of a slot in one launch. Slots may share buffers: what was filled last
    counts."""

    def __init__(self, kernels):
        self._kernels = kernels
        self._tables = {}  # buffers -> their table on the device
        self._filled = {}  # buffer -> (buffers filled together, key)

    def _table(self, buffers):
        key = tuple(buffers)
        if key not in self._tables:
            self._tables[key] = self._kernels.table([buffer.zone() for buffer in buffers])
        return self._tables[key]

    def fill(self, buffers):
        key = int.from_bytes(os.urandom(8), "little")
        group = tuple(buffers)
        self._kernels.fill_guards(self._table(group), len(group), key)
        for buffer in group:
            self._filled[buffer] = (group, key)

    def damage(self, buffers):
        fills = {}  # in the order of the buffers
        for buffer in buffers:
            fills.setdefault(self._filled[buffer], []).append(buffer)
        for (group, key), asked in fills.items():
            rows = self._kernels.check_guards(self._table(group), len(group), key)
            for buffer, row in zip(group, rows or ()):
                if buffer in asked and (row[0] or row[2]):
                    return buffer.place_of_damage(*row)
        return ""

    def forget(self):
        """Before buffers are freed."""
        self._tables.clear()
        self._filled.clear()
