"""Buffers that a candidate works on, each guard | payload | guard: files in shared memory beside a CPU, allocations of
their own on a GPU.

The payload starts at a multiple of 64 KiB; the second guard starts right behind its last byte. A file's space is
reserved when it is made, so that a full /dev/shm is an error here and not a signal later. On a GPU an allocation is
whole blocks of 2 MiB, since a handle shares the block that it lies in, and the guards fill the blocks.
"""

import errno
import mmap
import os

import torch

from warpsmith_oracle import native
from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.fills import GUARD_BYTES

READ_ONLY, OUTPUT, SCRATCH = "BUFFER_KIND_READ_ONLY", "BUFFER_KIND_OUTPUT", "BUFFER_KIND_SCRATCH"
UPDATED = "BUFFER_KIND_UPDATED"
BLOCK_BYTES = 2 << 20


def device_bytes(size):
    """What a payload of `size` bytes takes on a GPU."""
    return -(-(2 * GUARD_BYTES + size) // BLOCK_BYTES) * BLOCK_BYTES


class Buffer:
    """`payload`, `before` and `after` are byte tensors over the same memory."""

    def __init__(self, name, dtype, size, kind, persistent=False):
        self.name, self.dtype, self.size, self.kind, self.persistent = name, dtype, size, kind, persistent

    def _cut(self, whole):
        self.before = whole[:GUARD_BYTES]
        self.payload = whole[GUARD_BYTES:GUARD_BYTES + self.size]
        self.after = whole[GUARD_BYTES + self.size:]

    def tensor(self, shape, strides):
        """The payload as the published tensor."""
        dtype = getattr(torch, self.dtype)
        values = self.payload.view(dtype) if self.size else torch.empty(0, dtype=dtype, device=self.payload.device)
        return torch.as_strided(values, shape, strides)

    def place_of_damage(self, before, last, after, first):
        """For people: `before` wrong bytes in the first guard, the last of them ending at `last`, or `after` in the
        second, the first at `first`; offsets from the start of the allocation."""
        if before:
            return (f"{before} bytes before the start of {self.name}, the last {GUARD_BYTES - last + 1} bytes before "
                    "it")
        behind = first - GUARD_BYTES - self.size
        return f"{after} bytes behind the end of {self.name}, the first {behind} bytes behind it"


class FileBuffer(Buffer):
    """One tensor's file, mapped."""

    def __init__(self, path, name, dtype, size, kind, persistent=False):
        super().__init__(name, dtype, size, kind, persistent)
        self.path = path
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
        self._cut(torch.frombuffer(mapping, dtype=torch.uint8))

    def place(self):
        return {"path": self.path, "payload_offset": GUARD_BYTES, "payload_bytes": self.size}

    def bytes(self):
        """The payload without a copy."""
        return memoryview(self._mapping)[GUARD_BYTES:GUARD_BYTES + self.size]

    def close(self):
        """Unlinks the file; the mapping goes with the last tensor over it."""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass


class DeviceBuffer(Buffer):
    """One tensor's own allocation on the GPU. `close` frees it: no tensor over it may be used after that."""

    def __init__(self, driver, device, name, dtype, size, kind, persistent=False):
        super().__init__(name, dtype, size, kind, persistent)
        self.total = device_bytes(size)
        try:
            self._memory = native.Memory(driver, self.total)
        except native.NativeError as error:
            if not error.out_of_memory:
                raise
            torch.cuda.empty_cache()
            try:
                self._memory = native.Memory(driver, self.total)
            except native.NativeError as again:
                free, _ = torch.cuda.mem_get_info(device)
                raise OracleError("memory", f"{name!r} takes {self.total} bytes of the GPU's memory and {free} are "
                                            "free") from again
        self._handle = driver.ipc_handle(self._memory.pointer).hex()
        self._cut(self._memory.tensor(device))

    def zone(self):
        """base, bytes of the first guard, of the payload, of everything: kernels.cu's Zone."""
        return self._memory.pointer, GUARD_BYTES, self.size, self.total

    def place(self):
        return {"ipc_handle": self._handle, "allocation_bytes": self.total, "payload_offset": GUARD_BYTES,
                "payload_bytes": self.size}

    def close(self):
        self.before = self.payload = self.after = None
        self._memory.close()
