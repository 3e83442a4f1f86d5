"""A GPU for tests on machines without one: kernels.cu runs on the host (host_kernels.cc), device memory is the host's.

What it shows: the arithmetic of the kernels, how they are launched, and everything that the oracle does differently on
a GPU, apart from CUDA and PyTorch's GPU operators themselves.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
import tempfile
from unittest import mock

import torch

import support
from warpsmith_oracle import device as devices, kernels, native

_LIBRARY = None


def library():
    """host_kernels.cc, compiled once a process; None without a compiler."""
    global _LIBRARY
    compiler = shutil.which("g++") or shutil.which("c++")
    if _LIBRARY is None and compiler:
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "libhost_kernels.so")
            subprocess.run([compiler, "-std=c++20", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC",
                            "-I" + support.SOURCE, os.path.join(support.HERE, "host_kernels.cc"), "-o", target,
                            "-lpthread"], check=True)
            _LIBRARY = ctypes.CDLL(target)
    return _LIBRARY


class Driver:
    """native.Driver's part that kernels.py and buffers.py use. `limit`: bytes that may be allocated."""

    def __init__(self, limit=1 << 40):
        self.limit, self.allocated, self.launches = limit, 0, []

    def launch(self, function, grid, block, stream, arguments):
        self.launches.append(function)
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in arguments))
        if library().launch(function.encode(), grid[0], grid[1], block, pointers) != 0:
            raise native.NativeError(function, 500, "no such kernel")

    def ipc_handle(self, pointer):
        return pointer.to_bytes(64, "little")


class Memory:
    def __init__(self, driver, size):
        if driver.allocated + size > driver.limit:
            raise native.NativeError("cuMemAlloc_v2", 2, "out of memory")
        driver.allocated += size
        self._driver, self.size = driver, size
        self._bytes = torch.empty(size, dtype=torch.uint8)
        self.pointer = self._bytes.data_ptr()

    def tensor(self, device):
        return self._bytes

    def close(self):
        if self._bytes is not None:
            self._driver.allocated -= self.size
            self._bytes = None


def host_kernels(driver=None):
    return kernels.Kernels("cpu", driver or Driver(), {name: name for name in kernels.NAMES}, blocks=2, threads=64)


@contextlib.contextmanager
def gpu(limit=1 << 40):
    """Inside, a CPU's problems are a GPU's. Yields the driver."""
    driver = Driver(limit)
    made = host_kernels(driver)
    nothing = mock.Mock(return_value=None)
    with mock.patch.object(devices, "is_cuda", return_value=True), \
            mock.patch.object(devices, "makes_tensors", return_value=False), \
            mock.patch.object(devices, "default_device", lambda device: contextlib.nullcontext(False)), \
            mock.patch.object(devices, "synchronize", nothing), mock.patch.object(devices, "empty_cache", nothing), \
            mock.patch.object(devices, "reset_peak", nothing), \
            mock.patch.object(devices, "free_bytes", lambda device: driver.limit - driver.allocated), \
            mock.patch.object(devices, "name", lambda device: "fake GPU"), \
            mock.patch.object(native, "Memory", Memory), \
            mock.patch.object(kernels, "of", lambda device: made):
        yield driver


class DeviceBench(support.Bench):
    """support.Bench on the fake GPU; to be made and used inside gpu()."""

    def _map(self):
        pass

    def raw(self, name, slot=0):
        buffer = next(buffer for buffer in self.trials.slots[slot].buffers if buffer.name == name)
        return buffer._memory._bytes, buffer.place()["payload_offset"], buffer.size
