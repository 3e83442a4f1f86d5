"""Answers that need no kernel: which of them pass, and whether one passes everything.

A probe that passes the kernelbench tolerance on the problem's own distribution is listed (zeros for a softmax over many
columns). A problem is degenerate where a probe passes the strictest scale-aware class on every usable distribution: no
judge can tell a kernel from it.
"""

import math

import torch

from warpsmith_oracle import judge, norms, tensors
from warpsmith_oracle.errors import OracleError, is_memory_error
from warpsmith_oracle.precision import map_tensors

_CHUNK = 1 << 24
_PREFIX = 1 << 16


def _constants(value):
    def answers(problem, case):
        return [torch.full_like(answer.own, value) for answer in case.outputs]
    return answers


def _mean(problem, case):
    if all(answer.own.numel() < 2 for answer in case.outputs):
        return None
    return [torch.full_like(answer.own, float(answer.own.mean(dtype=torch.float64))) if answer.own.is_floating_point()
            else answer.own.flatten()[:1].expand(answer.own.shape).contiguous() for answer in case.outputs]


def _input_copy(problem, case):
    outputs = []
    for answer in case.outputs:
        source = next((value for value in case.values.values() if value.numel() == answer.own.numel() > 1
                       and value.dtype == answer.own.dtype), None)
        if source is None:
            return None
        outputs.append(source.contiguous().reshape(answer.own.shape))
    return outputs


def _rearranged(tensor):
    """The same elements in other places, chunk by chunk: place i gets element (step * i + 1) modulo their number."""
    source = tensor.reshape(-1)
    count = source.numel()
    step = max(min(int(count * 0.6180339887), 1 << 30), 1)
    while math.gcd(step, count) != 1:
        step += 1
    target = torch.empty_like(source)
    for start in range(0, count, _CHUNK):
        places = torch.arange(start, min(start + _CHUNK, count), dtype=torch.int64, device=tensor.device)
        target[start:start + _CHUNK] = source[(places * step + 1) % count]
    return target.reshape(tensor.shape)


def _permuted(problem, case):
    """The module's own answer to inputs whose elements changed places. A sum of everything allows that; so single
    elements are not probed."""
    if all(answer.own.numel() < 2 for answer in case.outputs):
        return None
    moved = []

    def shuffle(tensor):
        if not tensor.is_floating_point() or tensor.numel() < 2:
            return tensor.clone()
        moved.append(tensor)
        return _rearranged(tensor)

    arguments = map_tensors(case.arguments, shuffle)
    if not moved:
        return None  # integers may be indexes or targets and stay where they are
    result, _, _ = problem.run(case.model, arguments)
    outputs = [tensor.contiguous() for _, tensor in tensors.flatten_outputs(result)]
    same = all(output.shape == answer.own.shape for output, answer in zip(outputs, case.outputs))
    return outputs if same else None


PROBES = {"zeros": _constants(0), "ones": _constants(1), "mean": _mean, "input_copy": _input_copy,
          "permuted_inputs": _permuted}


def _fails_at_once(answer, output, tolerance, plain):
    """Whether the first elements alone show that an output is neither in the strictest class nor, on the problem's own
    distribution, within the tolerance. What one element breaks is broken whatever the others are; most trivial answers
    are told from the right one that way, without a dozen passes over all of them."""
    if not answer.floating or answer.own.numel() <= _PREFIX:
        return False
    own, got = answer.own.reshape(-1)[:_PREFIX], output.reshape(-1)[:_PREFIX]
    exact = (answer.wide.reshape(-1) if answer.wide is not None else answer.pair())[:_PREFIX]
    error = (got.double() - exact).abs()
    largest = float(torch.where(torch.isfinite(error), error, torch.zeros_like(error)).max())
    if norms.over(largest, answer.stick.scale) <= norms.bounds(norms.FP32, answer.stick).maximum:
        return False
    wide = torch.float64 if own.dtype is torch.float64 else torch.float32
    return not plain or not torch.allclose(got.to(wide), own.to(wide), rtol=tolerance, atol=tolerance, equal_nan=True)


def _passes(outputs, case, tolerance, plain):
    """(kernelbench, strictest class) of a probe's outputs."""
    if any(_fails_at_once(answer, output, tolerance, plain) for answer, output in zip(case.outputs, outputs)):
        return False, False
    findings = [judge.judge_output(answer, output, [norms.FP32], tolerance, plain)
                for answer, output in zip(case.outputs, outputs)]
    exact = all(finding.outcome == judge.OK for finding in findings)
    return all(finding.kernelbench for finding in findings), exact


class Run:
    """Probes over one distribution after the other, "plain" first."""

    def __init__(self, problem, tolerance):
        self._problem, self._tolerance = problem, tolerance
        self._strict = dict.fromkeys(PROBES, True)  # whether a probe passed the strictest class everywhere so far
        self.distributions = []
        self.trivial = []  # probes that pass kernelbench on plain

    def add(self, distribution, case):
        self.distributions.append(distribution)
        for name, probe in PROBES.items():
            if not self._strict[name]:
                continue
            outputs = self._answer(probe, case)
            if outputs is None:
                self._strict[name] = False
                continue
            kernelbench, exact = _passes(outputs, case, self._tolerance, distribution == "plain")
            if distribution == "plain" and kernelbench:
                self.trivial.append(name)
            self._strict[name] &= exact

    def _answer(self, probe, case):
        try:
            return probe(self._problem, case)
        except (OracleError, RuntimeError) as error:
            if not is_memory_error(error) and getattr(error, "kind", "") != "memory":
                raise
        return None  # too large to be tried

    def degenerate(self):
        """Why no judge can tell a kernel from a trivial answer; empty where it can."""
        name = next((name for name, strict in self._strict.items() if strict), "")
        return name and (f"the trivial answer {name!r} passes the strictest check on every usable distribution "
                         f"({', '.join(self.distributions)})")
