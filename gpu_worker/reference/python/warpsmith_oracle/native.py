"""NVRTC and the CUDA driver through ctypes: what PyTorch does not offer, without a compiler on the machine.

Everything runs in PyTorch's primary context and on its current stream. Errors: NativeError says which call failed.
"""

import ctypes
import ctypes.util
import glob
import os
import sys

import torch

_OUT_OF_MEMORY = 2


class NativeError(RuntimeError):
    def __init__(self, what, code, text):
        super().__init__(f"{what}: {text} (code {code})")
        self.code = code

    @property
    def out_of_memory(self):
        return self.code == _OUT_OF_MEMORY


def _open(names):
    tried = []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
    raise NativeError("loading", -1, "; ".join(tried[-2:]) or "nothing to load")


def _toolkit_libraries(stem):
    """Candidates for lib<stem>.so, PyTorch's own first: its version is the one that suits the driver."""
    folders = []
    for entry in sys.path:
        folders += sorted(glob.glob(os.path.join(entry, "nvidia", "*", "lib"))) + [os.path.join(entry, "torch", "lib")]
    folders += ["/usr/local/cuda/lib64"] + sorted(glob.glob("/usr/local/cuda-*/lib64"), reverse=True)
    found = []
    for folder in folders:
        found += [path for path in sorted(glob.glob(os.path.join(folder, f"lib{stem}*.so*")), key=len)
                  if ".alt." not in path and (stem.endswith("builtins") or "builtins" not in path)]
    usual = ctypes.util.find_library(stem)
    return found + ([usual] if usual else [])


class Nvrtc:
    def __init__(self):
        # NVRTC looks for its built-ins by name only; loaded before, they are found whatever the search path.
        for path in _toolkit_libraries("nvrtc-builtins")[:1]:
            try:
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            except OSError:
                pass
        self._library = _open(_toolkit_libraries("nvrtc"))
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise NativeError(name, code, self._library.nvrtcGetErrorString(code).decode())

    def compile(self, source, architecture, options=()):
        """A cubin for "sm_90" or the like."""
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
        try:
            flags = [f"--gpu-architecture={architecture}", "--std=c++17", *options]
            texts = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
            try:
                self._call("nvrtcCompileProgram", program, len(flags), texts)
            except NativeError as error:
                size = ctypes.c_size_t()
                self._call("nvrtcGetProgramLogSize", program, ctypes.byref(size))
                log = ctypes.create_string_buffer(size.value)
                self._call("nvrtcGetProgramLog", program, log)
                raise NativeError("compiling for " + architecture, error.code, log.value.decode()[:2000]) from error
            size = ctypes.c_size_t()
            self._call("nvrtcGetCUBINSize", program, ctypes.byref(size))
            cubin = ctypes.create_string_buffer(size.value)
            self._call("nvrtcGetCUBIN", program, cubin)
            return cubin.raw
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))


class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


class Driver:
    """libcuda. The calling thread must have PyTorch's context: any CUDA operator of PyTorch's sees to it."""

    def __init__(self):
        self._library = _open(["libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                               "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1"])

    def call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(code, ctypes.byref(text))
            raise NativeError(name, code, text.value.decode() if text.value else "unknown error")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer.value

    def free(self, pointer):
        self.call("cuMemFree_v2", ctypes.c_uint64(pointer))

    def ipc_handle(self, pointer):
        handle = IpcHandle()
        self.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(pointer))
        return bytes(handle.bytes)

    def open_ipc(self, handle):
        """The other side: an address of this process."""
        pointer = ctypes.c_uint64()
        given = IpcHandle((ctypes.c_ubyte * 64)(*handle))
        self.call("cuIpcOpenMemHandle_v2", ctypes.byref(pointer), given, 1)
        return pointer.value

    def close_ipc(self, pointer):
        self.call("cuIpcCloseMemHandle", ctypes.c_uint64(pointer))

    def load_module(self, image):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def launch(self, function, grid, block, stream, arguments):
        """`arguments`: ctypes values, in order."""
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in arguments))
        self.call("cuLaunchKernel", function, grid[0], grid[1], 1, block, 1, 1, 0, ctypes.c_void_p(stream), pointers,
                  None)


class Memory:
    """Device memory of PyTorch's context as __cuda_array_interface__ has it; freed by close(), or with its last
    tensor."""

    pointer = 0

    def __init__(self, driver, size):
        self._driver, self.size = driver, size
        self.pointer = driver.allocate(size)
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (self.pointer, False),
                                         "version": 3, "strides": None}

    def tensor(self, device):
        """All of it, as bytes."""
        return torch.as_tensor(self, device=device)

    def close(self):
        if self.pointer:
            pointer, self.pointer = self.pointer, 0
            self._driver.free(pointer)

    def __del__(self):
        try:
            self.close()
        except (AttributeError, NativeError, TypeError):  # not made, or the process ends
            pass
