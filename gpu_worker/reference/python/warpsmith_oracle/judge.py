"""Whether one output holds: no poison left, NaN and Inf where the reference has them, and close enough in an accepted
class.

Floating outputs are held against the module's float64 run by norms.py. The kernelbench verdict (allclose against the
module's own run, absolute and relative tolerance the same) is taken on the problem's own distribution and recorded
beside it; it decides nothing, since a perfect float32 kernel fails it on large values and zeros pass it on small ones.
Integers and booleans are exact; where the float64 run rounds another way, either value is right.
"""

import math

import torch

from warpsmith_oracle import answers, arg_reductions, norms, tensors

OK, UNWRITTEN = "OUTCOME_OK", "OUTCOME_UNWRITTEN_OUTPUT"
NON_FINITE, WRONG = "OUTCOME_NON_FINITE", "OUTCOME_WRONG_OUTPUT"
_SHORT = {norms.FP32: "fp32", norms.TF32: "tf32", norms.BF16: "bf16"}


class Finding:
    """What one output (or one changed buffer) came to."""

    def __init__(self, name):
        self.name = name
        self.outcome = OK
        self.message = ""
        self.reached = norms.FP32
        self.norms = norms.Norms(0.0, 0.0, 0.0, 0)
        self.kernelbench = True
        self.mismatch = None

    def fail(self, outcome, count, worst, expected, got):
        """`count` wrong elements; `worst` is the flat index of the one to tell about in tensors of the output's
        shape."""
        self.outcome = outcome
        index, rest = [], worst
        for size in reversed(list(expected.shape)):
            index.append(rest % size)
            rest //= size
        self.mismatch = {
            "output": self.name, "index": list(reversed(index)), "expected": number(expected.reshape(-1)[worst]),
            "got": number(got.reshape(-1)[worst]), "wrong_elements": count, "elements": expected.numel()}
        return self

    def share(self):
        return f"{self.name}: {self.mismatch['wrong_elements']} of {self.mismatch['elements']} elements"


def number(value):
    """A float as protobuf's JSON has it."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def accepted_classes(accepted):
    """Classes that pass: those named, and every stricter one."""
    named = [name for name in norms.CLASSES if name in accepted] or [norms.FP32]
    return norms.CLASSES[:norms.CLASSES.index(named[-1]) + 1]


def at(index):
    return "[" + ", ".join(str(part) for part in index) + "]"


def _first(mask):
    return int(mask.reshape(-1).to(torch.uint8).argmax())


def _unwritten(finding, count, first, answer, got):
    finding.fail(UNWRITTEN, count, first, answer.own, got)
    finding.reached = None
    finding.message = f"{finding.share()} were never written, the first at {at(finding.mismatch['index'])}"
    return finding


def _non_finite(finding, count, first, answer, got):
    finding.reached = None
    finding.fail(NON_FINITE, count, first, answer.own, got)
    found = finding.mismatch
    finding.message = (f"{finding.share()} are NaN or Inf where the reference is not, or finite where it is; the "
                       f"first at {at(found['index'])}: expected {found['expected']}, got {found['got']}")
    return finding


def _too_far(finding, count, answer, got, wanted):
    """`count` elements are off by more than the maximum norm allows, or where none is, by more than the RMS does."""
    limit, seen = norms.bounds(wanted, answer.stick), finding.norms
    finding.fail(WRONG, count, seen.worst, answer.own, got)
    found = finding.mismatch
    worst = slice(seen.worst, seen.worst + 1)
    exact = answer.wide.reshape(-1)[worst] if answer.wide is not None else answer.pair()[worst]
    found["expected"] = number(exact)
    parts = [f"{label} {value:.2e} (allowed {bound:.2e})" for label, value, bound in
             (("relative RMS error", seen.rms, limit.rms), ("worst tile", seen.tile, limit.tile),
              ("largest error", seen.maximum, limit.maximum)) if value > bound]
    also = f"; it would pass in class {_SHORT[finding.reached]}" if finding.reached else ""
    finding.message = (f"{finding.share()} are off; worst at {at(found['index'])}: expected "
                       f"{float(found['expected']):.9g}, got {float(found['got']):.9g}; {', '.join(parts)} for class "
                       f"{_SHORT[wanted]}{also}")
    return finding


def _check_unwritten(finding, answer, got, poison_bits):
    """Whether elements still hold the poison of this trial."""
    left = tensors.as_bits(got) == poison_bits
    if not got.is_floating_point():
        left &= ~(got == answer.own) if got.dtype is not torch.bool else torch.ones_like(left)
        # A wrong byte may equal a one-byte fill by chance; a fill that shows in one place of a hundred is no chance.
        if got.dtype in (torch.int8, torch.uint8) and int(left.sum()) * 100 < left.numel():
            return False
    if not bool(left.any()):
        return False
    _unwritten(finding, int(left.sum()), _first(left), answer, got)
    return True


def judge_values(finding, answer, got, accepted, tolerance, plain):
    """Sets outcome, class and norms of a finding whose output was written, by PyTorch's own operators."""
    if not answer.floating:
        return _judge_exact(finding, answer, got)
    own = answer.own
    misplaced = (torch.isnan(got) != torch.isnan(own)) | (torch.isinf(got) != torch.isinf(own)) | (
        torch.isinf(got) & torch.isinf(own) & (torch.sign(got) != torch.sign(own)))
    if plain:
        finding.kernelbench = bool(torch.allclose(got.float() if got.dtype is not torch.float64 else got,
                                                  own.float() if own.dtype is not torch.float64 else own,
                                                  rtol=tolerance, atol=tolerance, equal_nan=True))
    if bool(misplaced.any()):
        return _non_finite(finding, int(misplaced.sum()), _first(misplaced), answer, got)
    exact = answer.wide if answer.wide is not None else answer.pair()
    finding.norms = norms.measure(got, exact, answer.stick.scale)
    finding.reached = norms.reached(finding.norms, answer.stick)
    passing = accepted_classes(accepted)
    if finding.reached in passing:
        return finding
    limit = norms.bounds(passing[-1], answer.stick)
    error = torch.nan_to_num((got.double() - answer.answer).abs(), nan=0.0, posinf=0.0)
    count = int((error > limit.maximum * answer.stick.scale).sum())
    return _too_far(finding, count or int((error > limit.rms * answer.stick.scale).sum()), answer, got, passing[-1])


def _judge_fused(finding, answer, got, accepted, tolerance, plain, poison_bits):
    """The same of a float32 output in one pass: kernels.cu's judge()."""
    stick, passing = answer.stick, accepted_classes(accepted)
    limit = norms.bounds(passing[-1], stick)
    figures = answer.kernels.judge(
        got, answer.own, answer.residual, poison_bits, tolerance if plain else None,
        (stick.scale * norms.TILE_FLOOR) ** 2, limit.maximum * stick.scale, limit.rms * stick.scale)
    if figures.poison_count:
        finding.kernelbench = not plain
        return _unwritten(finding, figures.poison_count, figures.poison_first, answer, got)
    finding.kernelbench = figures.loose_count == 0
    if figures.misplaced_count:
        return _non_finite(finding, figures.misplaced_count, figures.misplaced_first, answer, got)
    finding.norms = answers.norms_of(figures, stick.scale, answer.own.numel())
    finding.reached = norms.reached(finding.norms, stick)
    if finding.reached in passing:
        return finding
    return _too_far(finding, figures.over_maximum or figures.over_rms, answer, got, passing[-1])


def _judge_exact(finding, answer, got):
    expected = answer.own
    if got.dtype is torch.bool:
        raw, wanted = got.view(torch.uint8), expected.view(torch.uint8)
        wrong = raw != wanted
    else:
        raw, wanted = got, expected
        wrong = got != expected
    if answer.selection is not None and not got.dtype is torch.bool:
        wrong = arg_reductions.wrong_indexes(answer.selection, got, expected)
    elif answer.other is not None:
        other = answer.other.view(torch.uint8) if got.dtype is torch.bool else answer.other
        wrong &= raw != other
    if bool(wrong.any()):
        finding.reached = None
        finding.kernelbench = False
        finding.fail(WRONG, int(wrong.sum()), _first(wrong), wanted, raw)
        found = finding.mismatch
        finding.message = (f"{finding.share()} are wrong (exact type "
                           f"{tensors.dtype_name(got.dtype)}); first at {at(found['index'])}: expected "
                           f"{int(found['expected'])}, got {int(found['got'])}")
    return finding


def judge_output(answer, got, accepted, tolerance, plain, poison_bits=None):
    """The finding of one output; `poison_bits` None where it was not poisoned."""
    finding = Finding(answer.name)
    if answer.kernels is not None and answer.floating and got.dtype is answer.own.dtype is torch.float32:
        return _judge_fused(finding, answer, got, accepted, tolerance, plain, poison_bits)
    if poison_bits is not None and _check_unwritten(finding, answer, got, poison_bits):
        finding.kernelbench = not plain
        return finding
    return judge_values(finding, answer, got, accepted, tolerance, plain)
