"""Buffers that a candidate works on: files in shared memory, each guard | payload | guard.

The payload starts at a whole page and a multiple of 64 KiB; the second guard starts right behind its last byte. Space
is reserved when a file is made, so that a full /dev/shm is an error here and not a signal later.
"""

import errno
import mmap
import os

import torch

from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.fills import GUARD_BYTES

READ_ONLY, OUTPUT, SCRATCH = "BUFFER_KIND_READ_ONLY", "BUFFER_KIND_OUTPUT", "BUFFER_KIND_SCRATCH"


class SharedBuffer:
    """One tensor's file, mapped. `payload`, `before` and `after` are byte tensors over the mapping."""

    def __init__(self, path, name, dtype, size, kind):
        self.path, self.name, self.dtype, self.size, self.kind = path, name, dtype, size, kind
        total = -(-(2 * GUARD_BYTES + size) // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = -1
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            os.posix_fallocate(descriptor, 0, total)
            mapping = mmap.mmap(descriptor, total)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.ENOMEM)
            remedy = "make room in shared memory (df /dev/shm) or make the problem smaller" if full else (
                "give a folder of this worker's own")
            what = f"{path}: {error.strerror} ({total} bytes for {name!r}); {remedy}"
            raise OracleError("memory" if full else "request", what) from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        self._mapping = mapping
        whole = torch.frombuffer(mapping, dtype=torch.uint8)
        self.before = whole[:GUARD_BYTES]
        self.payload = whole[GUARD_BYTES:GUARD_BYTES + size]
        self.after = whole[GUARD_BYTES + size:]
        self.guards = None  # what before and after must hold

    def place(self):
        return {"path": self.path, "payload_offset": GUARD_BYTES, "payload_bytes": self.size}

    def bytes(self):
        """The payload without a copy."""
        return memoryview(self._mapping)[GUARD_BYTES:GUARD_BYTES + self.size]

    def fill_guards(self, fills):
        self.guards = (fills.guard(self.before.numel()), fills.guard(self.after.numel()))
        self.before.copy_(self.guards[0])
        self.after.copy_(self.guards[1])

    def broken_guard(self):
        """Where a guard was written, for people; empty where both are whole."""
        for side, zone, expected in (("before", self.before, self.guards[0]), ("after", self.after, self.guards[1])):
            if torch.equal(zone, expected):
                continue
            wrong = zone != expected
            first = int(wrong.to(torch.uint8).argmax())
            count = int(wrong.sum())
            if side == "after":
                return f"{count} bytes behind the end of {self.name}, the first {first} bytes behind it"
            last = zone.numel() - 1 - int(wrong.flip(0).to(torch.uint8).argmax())
            return f"{count} bytes before the start of {self.name}, the last {zone.numel() - last} bytes before it"
        return ""

    def tensor(self, shape, strides):
        """The payload as the published tensor."""
        dtype = getattr(torch, self.dtype)
        values = self.payload.view(dtype) if self.size else torch.empty(0, dtype=dtype)
        return torch.as_strided(values, shape, strides)
