"""kernels.cu on PyTorch's tensors: compiled once a process by NVRTC, launched on PyTorch's current stream.

`of(device)` is None where the device is a CPU, and where NVRTC or the driver cannot be had: everything then runs by
PyTorch's own operators, slower and with the same results.
"""

import ctypes
import os
import struct
import time

import torch

from warpsmith_oracle import checksums, native

_THREADS = 256
_BLOCKS_PER_SM = 8
_LARGE_BYTES = 8 << 20  # spans above it get a launch of their own
_MOST_TABLES = 256
_NONE = (1 << 64) - 1
_FIGURES = struct.Struct("<5d8Q")
FIELDS = ("squares", "largest", "worst_tile", "answer_squares", "answer_peak", "worst", "poison_count", "poison_first",
          "misplaced_count", "misplaced_first", "loose_count", "over_maximum", "over_rms")
NAMES = ("fill_guards", "check_guards", "fill_pattern", "checksum", "split_answer", "judge", "join_figures")


class Figures:
    """What a pass over an output found; indexes are 0 where nothing was found."""

    def __init__(self, raw):
        for name, value in zip(FIELDS, _FIGURES.unpack(raw)):
            setattr(self, name, 0 if value == _NONE else value)


class _Rules(ctypes.Structure):
    _fields_ = [("poison", ctypes.c_uint32), ("check_poison", ctypes.c_uint32), ("check_loose", ctypes.c_uint32),
                ("tolerance", ctypes.c_float), ("tile_floor", ctypes.c_double), ("over_maximum", ctypes.c_double),
                ("over_rms", ctypes.c_double)]


def source():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.cu"), encoding="utf-8") as file:
        return file.read()


def _pointer(tensor):
    return ctypes.c_uint64(tensor.data_ptr() if tensor is not None else 0)


def _aligned(tensor):
    """The same values at a multiple of 16 bytes, dense."""
    tensor = tensor.detach().contiguous()
    return tensor if tensor.data_ptr() % 16 == 0 else tensor.clone()


class Kernels:
    """Threading: one thread. Kernels are in order with PyTorch's own; what returns numbers waits for the device.

    `driver` launches `functions` (by name) in at most `blocks` blocks of `threads`; compiled() makes them for a GPU."""

    def __init__(self, device, driver, functions, blocks, threads=_THREADS):
        self.device, self.driver = torch.device(device), driver
        self._functions, self._blocks, self._threads = functions, blocks, threads
        self._partial = torch.empty(blocks * _FIGURES.size, dtype=torch.uint8, device=self.device)
        self._result = torch.empty(_FIGURES.size, dtype=torch.uint8, device=self.device)
        self._spans = {}    # (address, bytes) of several spans -> their table on the device
        self._nothing = {}  # number of zones -> check_guards' result before it has looked
        self.seconds = 0.0  # that compiling took

    @classmethod
    def compiled(cls, device):
        start = time.perf_counter()
        torch.zeros(1, device=device)  # makes PyTorch's context this thread's
        major, minor = torch.cuda.get_device_capability(device)
        driver = native.Driver()
        module = driver.load_module(native.Nvrtc().compile(source(), f"sm_{major}{minor}"))
        functions = {name: driver.function(module, name) for name in NAMES}
        blocks = torch.cuda.get_device_properties(device).multi_processor_count * _BLOCKS_PER_SM
        made = cls(device, driver, functions, blocks)
        made.seconds = time.perf_counter() - start
        return made

    def _launch(self, name, grid, arguments):
        on_gpu = self.device.type == "cuda"
        stream = torch.cuda.current_stream(self.device).cuda_stream if on_gpu else 0
        self.driver.launch(self._functions[name], grid, self._threads, stream, arguments)

    def _grid(self, work):
        """Blocks for `work` threads' worth of elements."""
        return max(1, min(self._blocks, -(-work // self._threads)))

    def table(self, rows):
        """A device array of records of 64-bit fields."""
        return torch.tensor([value for row in rows for value in row], dtype=torch.int64).to(self.device)

    def fill_guards(self, table, zones, key):
        self._launch("fill_guards", (min(64, self._blocks), zones), [_pointer(table), ctypes.c_uint64(key)])

    def check_guards(self, table, zones, key):
        """A row (wrong bytes before, one past the last of them, wrong bytes behind, the first of them) a zone, offsets
        from its base; None where all are whole."""
        if zones not in self._nothing:
            self._nothing[zones] = torch.tensor([0, 0, 0, -1], dtype=torch.int64).repeat(zones).to(self.device)
        found = self._nothing[zones].clone()
        self._launch("check_guards", (min(64, self._blocks), zones),
                     [_pointer(table), ctypes.c_uint64(key), _pointer(found)])
        rows = found.cpu().view(zones, 4).tolist()
        return rows if any(row[0] or row[2] for row in rows) else None

    def fill_pattern(self, data, pattern):
        """16 bytes over a flat byte tensor at a multiple of 16."""
        low, high = struct.unpack("<QQ", pattern)
        size = data.numel()
        if size:
            self._launch("fill_pattern", (self._grid(max(size // 16, 16)), 1),
                         [_pointer(data), ctypes.c_uint64(size), ctypes.c_uint64(low), ctypes.c_uint64(high)])

    def checksums(self, data, key):
        """Of each flat byte tensor, as checksums.checksum has it."""
        data = [part if part.data_ptr() % 16 == 0 else part.clone() for part in data]
        sums = torch.zeros(max(len(data), 1), dtype=torch.int64, device=self.device)
        order = sorted(range(len(data)), key=lambda index: data[index].numel(), reverse=True)
        table = self._span_table([(data[index].data_ptr(), data[index].numel()) for index in order])
        position = 0
        while position < len(order):
            size = data[order[position]].numel()
            count = 1 if size > _LARGE_BYTES else min(len(order) - position, 65535)
            grid = (self._grid(max(size // 64, 1)), count)
            self._launch("checksum", grid, [ctypes.c_uint64(table.data_ptr() + 16 * position), ctypes.c_uint64(key),
                                            ctypes.c_uint64(sums.data_ptr() + 8 * position)])
            position += count
        values = sums.cpu().tolist()
        result = [0] * len(data)
        for place, index in enumerate(order):
            result[index] = checksums.unsigned(values[place])
        return result

    def _span_table(self, rows):
        key = tuple(rows)
        if key not in self._spans:
            if len(self._spans) >= _MOST_TABLES:
                self._spans.clear()
            self._spans[key] = self.table(rows)
        return self._spans[key]

    def _figures(self, name, work, arguments):
        blocks = self._grid(work)
        self._launch(name, (blocks, 1), arguments + [_pointer(self._partial)])
        self._launch("join_figures", (1, 1), [_pointer(self._partial), ctypes.c_uint32(blocks), _pointer(self._result)])
        return Figures(bytes(self._result.cpu().numpy() if _NUMPY else self._result.tolist()))

    def split(self, answer, own):
        """(float32 residual answer - own, Figures of the answer) of a float64 answer and a float32 run."""
        answer, own = _aligned(answer), _aligned(own)
        residual = torch.empty_like(own)
        count = own.numel()
        figures = self._figures("split_answer", count, [_pointer(answer), _pointer(own), ctypes.c_uint64(count),
                                                        _pointer(residual)])
        return residual, figures

    def judge(self, got, own, residual, poison=None, tolerance=None, tile_floor=0.0, over_maximum=0.0, over_rms=0.0):
        """Figures of a float32 output against own + residual; `poison` None: not looked for, `tolerance` None: no
        allclose."""
        got, own = _aligned(got), _aligned(own)
        rules = _Rules((poison or 0) & 0xFFFFFFFF, poison is not None, tolerance is not None, tolerance or 0.0,
                       tile_floor, over_maximum, over_rms)
        count = own.numel()
        return self._figures("judge", -(-count // 8), [_pointer(got), _pointer(own), _pointer(residual),
                                                       ctypes.c_uint64(count), rules])


def _has_numpy():
    try:
        torch.zeros(1).numpy()
        return True
    except (RuntimeError, ImportError):
        return False


_NUMPY = _has_numpy()
_KNOWN = {}
_WHY_NOT = {}


def of(device):
    """The device's Kernels, or None."""
    if torch.device(device).type != "cuda":
        return None
    name = str(device)
    if name not in _KNOWN:
        try:
            _KNOWN[name] = Kernels.compiled(device)
        except (native.NativeError, AttributeError, OSError) as error:
            _KNOWN[name], _WHY_NOT[name] = None, str(error)
    return _KNOWN[name]


def why_not(device):
    """Why there are none; empty where there are."""
    return _WHY_NOT.get(str(device), "")
