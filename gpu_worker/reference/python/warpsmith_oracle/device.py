"""What differs between a CPU and a GPU, and between PyTorch 1.13 and 2.x."""

import contextlib
import ctypes
import os
import warnings

import torch

_MIB = 1 << 20


def is_cuda(device):
    return torch.device(device).type == "cuda"


def name(device):
    return torch.cuda.get_device_name(device) if is_cuda(device) else "CPU (PyTorch)"


def synchronize(device):
    if is_cuda(device):
        torch.cuda.synchronize(device)


def empty_cache(device):
    if is_cuda(device):
        torch.cuda.empty_cache()


def reset_peak(device):
    if is_cuda(device):
        torch.cuda.reset_peak_memory_stats(device)


def free_bytes(device):
    """What the GPU has left, PyTorch's own reserve among it."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def total_bytes(device):
    return torch.cuda.get_device_properties(device).total_memory


def gib(size):
    return f"{size / (1 << 30):.2f} GiB"


def set_tf32(matmul, cudnn):
    """By the switches that PyTorch 1.12 to 2.x have; by the newer ones where these are gone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.backends.cuda.matmul.allow_tf32 = matmul
            torch.backends.cudnn.allow_tf32 = cudnn
        except (RuntimeError, AttributeError):
            torch.backends.cuda.matmul.fp32_precision = "tf32" if matmul else "ieee"
            torch.backends.cudnn.conv.fp32_precision = "tf32" if cudnn else "ieee"
            torch.backends.cudnn.rnn.fp32_precision = "tf32" if cudnn else "ieee"


def true_float32():
    """Float32 arithmetic as it says, whatever the problem's file set; kernels chosen without trials."""
    set_tf32(False, False)
    torch.backends.cudnn.benchmark = False


def pytorch_defaults():
    """As a fresh PyTorch has them: TF32 in cuDNN, not in matrix products."""
    set_tf32(False, True)
    torch.backends.cudnn.benchmark = False


@contextlib.contextmanager
def default_device(device):
    """Tensors that are made without a device are made on this one. Nothing before PyTorch 2.0 and for a CPU."""
    context = torch.device(device)
    if is_cuda(device) and hasattr(context, "__enter__"):
        with context:
            yield True
    else:
        yield False


def makes_tensors(device):
    """Whether default_device does anything."""
    return is_cuda(device) and hasattr(torch.device(device), "__enter__")


def lost(device):
    """Whether the process's CUDA context is beyond use."""
    if not is_cuda(device) or not torch.cuda.is_initialized():
        return False
    try:
        torch.cuda.synchronize(device)
        torch.zeros(1, device=device).item()
        return False
    except RuntimeError as error:
        return "out of memory" not in str(error).lower()


def l2_bytes(device):
    properties = torch.cuda.get_device_properties(device)
    return int(getattr(properties, "L2_cache_size", 0)) or 128 * _MIB


class Management:
    """NVML, as far as it is there: driver, power limit, throttling. Everything unknown is None or empty."""

    # Slowdowns that make a time worthless: hardware, thermal (software and hardware), power brake.
    _THROTTLED = 0x8 | 0x20 | 0x40 | 0x80

    def __init__(self, device):
        self._library, self._handle = None, ctypes.c_void_p()
        if not is_cuda(device):
            return
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            if library.nvmlInit_v2() == 0 and self._find(library, device):
                self._library = library
        except (OSError, AttributeError):
            pass

    def _find(self, library, device):
        uuid = str(getattr(torch.cuda.get_device_properties(device), "uuid", ""))
        names = [uuid if uuid.startswith("GPU-") else "GPU-" + uuid] if uuid else []
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        index = torch.device(device).index or 0
        names += [visible[index]] if index < len(visible) and visible[index].startswith("GPU-") else []
        for text in names:
            if library.nvmlDeviceGetHandleByUUID(text.encode(), ctypes.byref(self._handle)) == 0:
                return True
        count = ctypes.c_uint()
        single = library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value == 1
        return single and library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._handle)) == 0

    def driver(self):
        text = ctypes.create_string_buffer(96)
        known = self._library is not None and self._library.nvmlSystemGetDriverVersion(text, 96) == 0
        return text.value.decode() if known else ""

    def power_limit_w(self):
        value = ctypes.c_uint()
        known = self._library is not None and (
            self._library.nvmlDeviceGetEnforcedPowerLimit(self._handle, ctypes.byref(value)) == 0)
        return value.value / 1000 if known else 0.0

    def throttled(self):
        if self._library is None:
            return False
        reasons = ctypes.c_ulonglong()
        call = getattr(self._library, "nvmlDeviceGetCurrentClocksThrottleReasons", None)
        return call is not None and call(self._handle, ctypes.byref(reasons)) == 0 and bool(
            reasons.value & self._THROTTLED)
