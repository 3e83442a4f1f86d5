"""A stand-in for the GPU under exported Python files: it records what would be launched. It runs no kernel.

Library steps do run, by PyTorch's operators on the CPU.
"""
import contextlib
import ctypes


class StandIn:
    """In the place of an exported file's _WarpsmithCuda: a GPU of compute capability 9.0 with 132 multiprocessors."""

    sm_count, capability = 132, 90

    def __init__(self, device):
        self.device, self.log = device, []

    @staticmethod
    def current():
        return contextlib.nullcontext()

    @staticmethod
    def stream():
        return ctypes.c_void_p()

    @staticmethod
    def check(code, what):
        assert code == 0, what

    def launcher(self, name, grid, block, shared_bytes, cooperative, cluster):
        def launch(_, parameters, extra):
            self.log.append(("kernel", name, grid, block, shared_bytes, cooperative, tuple(cluster), parameters))
            return 0
        return launch

    def fill(self, address, value, width, count, _):
        self.log.append(("memset", address.value, value, width, count))

    def copy(self, target, source, size, _):
        self.log.append(("copy", target.value, source.value, size))

    def encode_tensor_map(self, target, address, dtype, shape, stride_bytes, box, swizzle):
        ctypes.memset(target, 0, 128)
        maps = self.__dict__.setdefault("maps", {})
        maps[target] = (address, dtype, shape, stride_bytes, list(box), swizzle)
