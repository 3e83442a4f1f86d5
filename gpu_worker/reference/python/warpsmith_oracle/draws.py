"""Inputs from secret seeds, on the problem's own distribution and on harder ones, made where they are needed: on a GPU
they are drawn there.

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

from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.precision import map_tensors

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
    """Changes a fresh draw in place: it may be most of the memory there is."""
    if distribution == "mean_1000":
        values.sub_(values.mean()).add_(1000.0)
    elif distribution == "scaled":
        values.mul_(100.0)
    elif distribution == "signed":
        values.mul_(torch.randint(0, 2, values.shape, dtype=torch.int8, device=values.device) * 2 - 1)
    elif distribution == "constant_rows" and values.dim() > 0:
        # Of one sign: where rows cancel, a product of two inputs is one random number times a known pattern, and an
        # honest kernel of a low precision is refused whenever that number happens to be small.
        values.copy_(values[..., :1].abs().expand_as(values))


class _DrawMode(TorchFunctionMode):
    def __init__(self, distribution, device):
        super().__init__()
        self.distribution = distribution
        self.device = device
        self.draws = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        kwargs.pop("generator", None)
        name = getattr(func, "__name__", "")
        if name == "normal" and "size" in kwargs and self.device is not None:
            kwargs.setdefault("device", self.device)  # the one draw that a default device does not reach
        result = func(*args, **kwargs)
        if name not in _DRAWS or not isinstance(result, torch.Tensor):
            return result
        if not result.is_floating_point() or result.numel() == 0:
            return result
        self.draws += 1
        _transform(result, self.distribution)
        return result


@contextlib.contextmanager
def _own_seeds(seed):
    """Seeds every generator, and lets nobody seed again inside."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)
    places = [(torch, "manual_seed"), (torch.random, "manual_seed"), (torch, "seed"), (torch.random, "seed"),
              (torch.cuda, "manual_seed"), (torch.cuda, "manual_seed_all"), (random, "seed")]
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


def _drawn(problem_file, seed, distribution):
    """(what get_inputs() returns, its floating draws). A file that cannot make its inputs on the GPU makes them on the
    CPU, from then on."""
    while True:
        on_device = problem_file.makes_inputs_on_device
        mode = _DrawMode(distribution, problem_file.device if on_device else None)
        try:
            with _own_seeds(seed), mode:
                return problem_file.inputs(), mode.draws
        except OracleError as error:
            if not on_device or error.kind == "memory":
                raise
            problem_file.makes_inputs_on_device = False


def _has_exact(values):
    found = []
    map_tensors(values, lambda tensor: found.append(not tensor.is_floating_point()))
    return any(found)


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
    secret = secret_seed("inputs", seed, distribution)
    values, draws = _drawn(problem_file, secret, distribution)
    if distribution != PLAIN and draws > 0 and _has_exact(values):
        values = _kept(_drawn(problem_file, secret, PLAIN)[0], values)
    return values, draws


def redraw_parameters(model, seed):
    """Moves every floating parameter away from its initial value, so that no candidate can count on weights that happen
    to be one or zero."""
    generators = {}
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point() and parameter.numel() > 0:
                device = parameter.device
                if device not in generators:
                    generators[device] = torch.Generator(device).manual_seed(secret_seed("parameters", seed))
                scale = max(float(parameter.double().pow(2).mean().sqrt()), 0.1)
                noise = torch.rand(parameter.shape, generator=generators[device], dtype=torch.float32, device=device)
                parameter.add_((noise.sub_(0.5).mul_(scale)).to(dtype=parameter.dtype))
