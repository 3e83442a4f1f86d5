"""Inputs from secret seeds, on the problem's own distribution and on harder ones.

A harder distribution changes the floating-point random draws inside get_inputs(), whatever get_inputs() then does with
them. What is no draw (masks, integers, constants) stays. Seeds that get_inputs() sets itself are not honoured: inputs
must not repeat from trial to trial, or a candidate could carry the answers.
"""

import contextlib
import hashlib
import os
import random
import sys

import torch
from torch.overrides import TorchFunctionMode

PLAIN = "plain"
PARAMETERS = "parameters"
# What is tried at intake, in the order in which signatures list it.
DISTRIBUTIONS = (PLAIN, "mean_1000", "scaled", "signed", "constant_rows", PARAMETERS)

_DRAWS = frozenset(("rand", "randn", "rand_like", "randn_like", "normal", "uniform_", "normal_"))
_SECRET = os.urandom(32)


def secret_seed(*parts):
    """63 bits that nobody outside this process can tell beforehand."""
    text = "|".join(str(part) for part in parts).encode()
    return int.from_bytes(hashlib.sha256(_SECRET + text).digest()[:8], "little") >> 1


def _transform(values, distribution):
    if distribution == "mean_1000":
        return values - values.mean() + 1000.0
    if distribution == "scaled":
        return values * 100.0
    if distribution == "signed":
        return values * (torch.randint(0, 2, values.shape, device=values.device) * 2 - 1).to(values.dtype)
    if distribution == "constant_rows" and values.dim() > 0:
        return values[..., :1].expand_as(values).clone()
    return values


class _DrawMode(TorchFunctionMode):
    def __init__(self, distribution):
        super().__init__()
        self.distribution = distribution
        self.draws = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        kwargs.pop("generator", None)
        result = func(*args, **kwargs)
        if getattr(func, "__name__", "") not in _DRAWS or not isinstance(result, torch.Tensor):
            return result
        if not result.is_floating_point() or result.numel() == 0:
            return result
        self.draws += 1
        changed = _transform(result, self.distribution)
        return result.copy_(changed) if changed is not result else result


@contextlib.contextmanager
def _own_seeds(seed):
    """Seeds every generator, and lets nobody seed again inside."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)
    places = [(torch, "manual_seed"), (torch.random, "manual_seed"), (random, "seed")]
    if numpy is not None:
        places.append((numpy.random, "seed"))
    saved = [getattr(place, name) for place, name in places]
    for place, name in places:
        setattr(place, name, lambda *arguments, **keywords: None)
    try:
        yield
    finally:
        for (place, name), original in zip(places, saved):
            setattr(place, name, original)


def _drawn(problem_file, seed, mode):
    with _own_seeds(seed), mode:
        return problem_file.inputs()


def _kept(usual, changed):
    """`changed` with the integers and booleans of `usual`: a mask made of a shifted draw would be all one value."""
    if isinstance(changed, torch.Tensor):
        same = isinstance(usual, torch.Tensor) and usual.shape == changed.shape and usual.dtype == changed.dtype
        return usual if same and not changed.is_floating_point() else changed
    if isinstance(changed, (list, tuple)) and isinstance(usual, (list, tuple)) and len(usual) == len(changed):
        entries = [_kept(left, right) for left, right in zip(usual, changed)]
        return type(changed)(*entries) if hasattr(changed, "_fields") else type(changed)(entries)
    if isinstance(changed, dict) and isinstance(usual, dict):
        return {key: _kept(usual.get(key), value) for key, value in changed.items()}
    return changed


def draw(problem_file, seed, distribution):
    """get_inputs() under a seed and a distribution. Returns the list and how many floating draws were made."""
    mode = _DrawMode(distribution)
    secret = secret_seed("inputs", seed, distribution)
    values = _drawn(problem_file, secret, mode)
    if distribution != PLAIN and mode.draws > 0:
        values = _kept(_drawn(problem_file, secret, _DrawMode(PLAIN)), values)
    return values, mode.draws


def redraw_parameters(model, seed):
    """Moves every floating parameter away from its initial value, so that no candidate can count on weights that happen
    to be one or zero."""
    generator = torch.Generator().manual_seed(secret_seed("parameters", seed))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point() and parameter.numel() > 0:
                scale = max(float(parameter.double().pow(2).mean().sqrt()), 0.1)
                noise = torch.rand(parameter.shape, generator=generator, dtype=torch.float32) - 0.5
                parameter.add_((noise * scale).to(device=parameter.device, dtype=parameter.dtype))
