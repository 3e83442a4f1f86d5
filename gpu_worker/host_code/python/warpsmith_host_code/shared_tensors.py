"""Tensors over buffers that another process owns: files beside a CPU, allocations on a GPU by CUDA IPC."""

import ctypes
import mmap
import os

import torch

from warpsmith_host_code.faults import Fault


class _IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


class _Allocation:
    """Memory of the other process, as __cuda_array_interface__ has it."""

    def __init__(self, pointer, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (pointer, False), "version": 3,
                                         "strides": None}


class _Driver:
    """cuIpcOpenMemHandle; PyTorch's context must be the thread's."""

    def __init__(self):
        self._library, tried = None, []
        for name in ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"):
            try:
                self._library = ctypes.CDLL(name)
                break
            except OSError as error:
                tried.append(str(error))
        if self._library is None:
            raise Fault("request", "; ".join(tried))

    def _call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise Fault("request", f"{name} ended with CUDA error {code}")

    def open(self, handle):
        pointer = ctypes.c_uint64()
        self._call("cuIpcOpenMemHandle_v2", ctypes.byref(pointer), _IpcHandle((ctypes.c_ubyte * 64)(*handle)), 1)
        return pointer.value

    def close(self, pointer):
        self._call("cuIpcCloseMemHandle", ctypes.c_uint64(pointer))


class Opener:
    def __init__(self, device):
        self._device = torch.device(device)
        self._driver = None
        self._pointers = {}  # by handle: an allocation is opened once a process

    def close(self):
        """What was opened on the GPU; no tensor over it may be used after that. Mapped files go with their tensors."""
        for pointer in self._pointers.values():
            self._driver.close(pointer)
        self._pointers = {}

    def payload(self, place):
        """The bytes of one buffer."""
        offset, size = int(place["payload_offset"]), int(place["payload_bytes"])
        if place.get("path"):
            return self._from_file(place["path"], offset, size)
        return self._from_gpu(bytes.fromhex(place["ipc_handle"]), offset, size)

    @staticmethod
    def _from_file(path, offset, size):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            mapping = mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        if size == 0:
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(mapping, dtype=torch.uint8, count=size, offset=offset)

    def _from_gpu(self, handle, offset, size):
        if self._driver is None:
            torch.zeros(1, device=self._device)
            self._driver = _Driver()
        if handle not in self._pointers:
            self._pointers[handle] = self._driver.open(handle)
        if size == 0:
            return torch.empty(0, dtype=torch.uint8, device=self._device)
        return torch.as_tensor(_Allocation(self._pointers[handle] + offset, size), device=self._device)


def shaped(payload, entry):
    """The payload as the published tensor."""
    return torch.as_strided(payload.view(getattr(torch, entry["dtype"])), entry["shape"], entry["strides"])


class Slot:
    """One set of buffers: published tensors by name, and the outputs in order."""

    def __init__(self, opener, tensors, places):
        payloads = [opener.payload(place) for place in places]
        self.by_name = {entry["name"]: shaped(payloads[entry["buffer"]], entry) for entry in tensors}
        self.outputs = [self.by_name[entry["name"]] for entry in tensors if entry["role"] == "output"]
        self.arguments = None  # of forward(), once its form is known

    def bind(self, form):
        self.arguments = [_argument(entry, self.by_name) for entry in form]


def _argument(form, by_name):
    from warpsmith_host_code import values
    if "name" in form:
        return by_name[form["name"]]
    if "value" in form:
        return values.decode(form["value"])
    entries = {key: _argument(entry, by_name) for key, entry in form["entries"]} if form["type"] == "dict" else [
        _argument(entry, by_name) for entry in form["entries"]]
    return tuple(entries) if form["type"] == "tuple" else entries
