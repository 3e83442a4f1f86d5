"""The same module in other precisions: float64 as the truth, and float16 emulated to learn whether it overflows
there."""

import contextlib
import copy

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

_FLOATS = frozenset((torch.float16, torch.bfloat16, torch.float32))


def map_tensors(value, function):
    """The same nesting with `function` applied to each tensor."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(entry, function) for entry in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(entry, function) for entry in value)
    if isinstance(value, dict):
        return {key: map_tensors(entry, function) for key, entry in value.items()}
    return value


def _widen(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def map_attributes(model, function):
    """Changes the tensors that are neither parameters nor buffers."""
    internals = frozenset(torch.nn.Module().__dict__)
    for module in model.modules():
        for name, value in list(module.__dict__.items()):
            if name not in internals and isinstance(value, (torch.Tensor, list, tuple, dict)):
                module.__dict__[name] = map_tensors(value, function)


class _DoubleMode(TorchFunctionMode):
    """Turns what a module casts to a narrower float, or makes in one, into float64."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = {key: torch.float64 if isinstance(value, torch.dtype) and value in _FLOATS else value
                  for key, value in (kwargs or {}).items()}
        args = tuple(torch.float64 if isinstance(value, torch.dtype) and value in _FLOATS else value for value in args)
        if getattr(func, "__name__", "") in ("float", "half", "bfloat16") and args:
            return args[0].double(*args[1:])
        return func(*args, **kwargs)


@contextlib.contextmanager
def double_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _DoubleMode():
            yield
    finally:
        torch.set_default_dtype(before)


def double_copy(model):
    model = copy.deepcopy(model).double()
    map_attributes(model, _widen)
    return model


def double_arguments(arguments):
    """Copies, floating ones in float64."""
    return map_tensors(arguments, lambda tensor: tensor.double() if tensor.is_floating_point() and (
        tensor.dtype is not torch.float64) else tensor.clone())


def _round_to_half(tensor):
    if tensor.dtype is torch.float32:
        tensor.copy_(tensor.half().float())
    return tensor


class _HalfRounding(TorchDispatchMode):
    """Rounds every operator's float32 results to float16: its range and its precision, on a CPU that lacks the
    kernels."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        returns = getattr(getattr(func, "_schema", None), "returns", ())
        views = [entry.alias_info is not None and not entry.alias_info.is_write for entry in returns]
        if not any(views):
            map_tensors(result, _round_to_half)
        return result


def half_emulated(model, arguments, call):
    """What the module returns with every operator's result rounded to float16."""
    model = copy.deepcopy(model)
    arguments = map_tensors(arguments, lambda tensor: _round_to_half(tensor.clone()))
    with torch.no_grad():
        for tensor in list(model.parameters()) + list(model.buffers()):
            _round_to_half(tensor)
        with _HalfRounding():
            return call(model, arguments)
