"""Whether what forward() returned is the tensors that the problem's module returns: plain, dense, of the same count,
shape and type, on the device."""

import torch

from warpsmith_host_code.faults import Fault

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _leaves(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _leaves(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _leaves(entry)


def _what(value):
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _wrong(leaf, entry, device):
    """What is wrong with it; empty where nothing is."""
    name = entry["name"]
    if type(leaf) not in _PLAIN:
        return f"{name} is a {_what(leaf)}; return a plain torch.Tensor, computed by the time that forward() ends"
    if leaf.layout is not torch.strided or leaf.is_quantized:
        return f"{name} has the layout {leaf.layout}; return a dense tensor"
    if list(leaf.shape) != entry["shape"]:
        return f"{name} has the shape {list(leaf.shape)}, and the module's has {entry['shape']}"
    if leaf.dtype is not getattr(torch, entry["dtype"]):
        return f"{name} has the type {leaf.dtype}, and the module's has torch.{entry['dtype']}"
    if leaf.device != device:
        return f"{name} lies on {leaf.device}, and has to lie on {device}"
    return ""


def checked(result, expected, device):
    """The tensors of `result`, in order."""
    leaves = [result] if isinstance(result, torch.Tensor) else list(_leaves(result))
    if len(leaves) != len(expected):
        told = f"{len(leaves)} tensors" if leaves else f"a {_what(result)} without a tensor"
        raise Fault("output", f"forward() returned {told}, and the module's returns {len(expected)}")
    for leaf, entry in zip(leaves, expected):
        wrong = _wrong(leaf, entry, device)
        if wrong:
            raise Fault("output", wrong)
    return leaves
