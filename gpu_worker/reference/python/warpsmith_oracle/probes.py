"""Answers that need no kernel: which of them pass, and whether one passes everything.

A probe that passes the kernelbench tolerance on the problem's own distribution is listed (zeros for a softmax over many
columns). A problem is degenerate where a probe passes the strictest scale-aware class on every usable distribution: no
judge can tell a kernel from it.
"""

import torch

from warpsmith_oracle import judge, norms, tensors
from warpsmith_oracle.precision import map_tensors


def _constants(value):
    def answers(problem, case):
        return [torch.full_like(answer.own, value) for answer in case.outputs]
    return answers


def _mean(problem, case):
    if all(answer.own.numel() < 2 for answer in case.outputs):
        return None
    return [torch.full_like(answer.own, float(answer.own.double().mean())) if answer.own.is_floating_point()
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


def _permuted(problem, case):
    """The module's own answer to inputs whose elements changed places. A sum of everything allows that; so single
    elements are not probed."""
    if all(answer.own.numel() < 2 for answer in case.outputs):
        return None
    generator = torch.Generator().manual_seed(7)

    def shuffle(tensor):
        if not tensor.is_floating_point() or tensor.numel() < 2:
            return tensor.clone()
        order = torch.randperm(tensor.numel(), generator=generator).to(tensor.device)
        return tensor.reshape(-1)[order].reshape(tensor.shape)

    arguments = map_tensors(case.arguments, shuffle)
    result, _, _ = problem.run(case.model, arguments)
    outputs = [tensor.contiguous() for _, tensor in tensors.flatten_outputs(result)]
    same = all(output.shape == answer.own.shape for output, answer in zip(outputs, case.outputs))
    return outputs if same else None


PROBES = {"zeros": _constants(0), "ones": _constants(1), "mean": _mean, "input_copy": _input_copy,
          "permuted_inputs": _permuted}


def _passes(outputs, case, tolerance, plain):
    """(kernelbench, strictest class) of a probe's outputs."""
    findings = [judge.judge_output(answer, output, [norms.FP32], tolerance, plain)
                for answer, output in zip(case.outputs, outputs)]
    exact = all(finding.outcome == judge.OK for finding in findings)
    return all(finding.kernelbench for finding in findings), exact


def run(problem, cases, tolerance):
    """(probes that pass kernelbench on plain, reason why the problem is degenerate or "")."""
    trivial, degenerate = [], ""
    for name, probe in PROBES.items():
        strict = True
        for distribution, case in cases.items():
            outputs = probe(problem, case)
            if outputs is None:
                strict = False
                break
            kernelbench, exact = _passes(outputs, case, tolerance, distribution == "plain")
            if distribution == "plain" and kernelbench:
                trivial.append(name)
            strict &= exact
        if strict and not degenerate:
            degenerate = (f"the trivial answer {name!r} passes the strictest check on every usable distribution "
                          f"({', '.join(cases)})")
    return trivial, degenerate
