"""Python values as JSON and back: constructor arguments and a problem's constants, from the process that runs the
problem's file to the one that must not see it."""

import base64
import importlib
import types

import torch


class NotPlain(Exception):
    """A value that is no plain data."""


def encode(value):
    if value is None or isinstance(value, (bool, str)) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, list):
        return [encode(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(entry) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(entry)] for key, entry in value.items()]}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).replace("torch.", "")}
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_complex():
        dense = value.detach().cpu().contiguous()
        content = bytes(dense.reshape(-1).view(torch.uint8).tolist()) if dense.numel() else b""
        return {"tensor": base64.b64encode(content).decode(), "dtype": str(dense.dtype).replace("torch.", ""),
                "shape": list(dense.shape)}
    raise NotPlain(type(value).__name__)


def decode(value):
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float.fromhex(value["float"])
    if "tuple" in value:
        return tuple(decode(entry) for entry in value["tuple"])
    if "dict" in value:
        return {decode(key): decode(entry) for key, entry in value["dict"]}
    if "tensor" in value:
        dtype = getattr(torch, value["dtype"])
        content = bytearray(base64.b64decode(value["tensor"]))
        flat = torch.frombuffer(content, dtype=torch.uint8).view(dtype) if content else torch.empty(0, dtype=dtype)
        return flat.clone().reshape(value["shape"])
    if "dtype" in value:
        return getattr(torch, value["dtype"])
    if "module" in value:
        return importlib.import_module(value["module"])
    raise NotPlain("an unknown form")


def constants_of(module):
    """Names of a problem's file that are plain data or modules which can be imported by name. KernelBench runs a
    candidate in the problem's own names, and some rely on it."""
    found = {}
    for name, value in vars(module).items():
        if name.startswith("__"):
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__.split(".")[0] in ("torch", "math", "numpy", "typing"):
                found[name] = {"module": value.__name__}
        elif isinstance(value, (bool, int, float, str, tuple, list)) and not isinstance(value, type):
            try:
                found[name] = encode(value)
            except NotPlain:
                pass
    return found
