"""What an output is held against: PyTorch's own run, the float64 answer, and how far the one is from the other.

Where the fused kernels run, the float64 answer of a float32 output is kept as a norms.Pair: half the memory, and judged
in one pass.
"""

import collections
import math

import torch

from warpsmith_oracle import norms


# Of one output: float32 answer less own run, the answer's sum of squares and peak, and Answer.overflows.
Parts = collections.namedtuple("Parts", "residual squares peak overflows")


class Answer:
    """One output of one case. `wide` or `residual` hold the float64 answer of a floating output, neither where there is
    none (its own run then stands for it); `other` is the float64 run's value of an integer output."""

    def __init__(self, name, own, wide=None, residual=None, stick=None, other=None, selection=None, kernels=None):
        self.name, self.own, self.wide, self.residual, self.stick = name, own, wide, residual, stick
        self.other, self.selection, self.kernels = other, selection, kernels
        self.overflows = 0  # elements that are finite in one of the two runs and not in the other

    @property
    def floating(self):
        return self.own.is_floating_point()

    @property
    def answer(self):
        """The float64 answer; None for integers and booleans."""
        if not self.floating:
            return None
        return self.wide if self.wide is not None else self.pair()[:].reshape(self.own.shape)

    def pair(self):
        return norms.Pair(self.own, self.residual)

    def measure(self, got):
        """norms.Norms of an output of the same shape."""
        if self.kernels is not None and got.dtype is torch.float32 and self.own.dtype is torch.float32:
            floor = (self.stick.scale * norms.TILE_FLOOR) ** 2
            figures = self.kernels.judge(got, self.own, self.residual, tile_floor=floor)
            return norms_of(figures, self.stick.scale, self.own.numel())
        return norms.measure(got, self.wide if self.wide is not None else self.pair(), self.stick.scale)

    def tensors(self):
        held = [self.own, self.wide, self.residual, self.other]
        return [part for part in held + [self.selection.source if self.selection else None] if part is not None]


def norms_of(figures, scale, count):
    """norms.measure's result from one pass of kernels.Kernels.judge."""
    rms = math.sqrt(figures.squares / max(count, 1))
    return norms.Norms(norms.over(rms, scale), math.sqrt(figures.worst_tile), norms.over(figures.largest, scale),
                       figures.worst)


def make(name, own, wide, selection, kernels=None):
    """`own` is kept, `wide` (the float64 run's output) too or its difference; None where there is none."""
    usable = wide is not None and wide.shape == own.shape
    if not own.is_floating_point():
        other = wide.detach().to(own.dtype).contiguous() if usable else None
        return Answer(name, own, other=other, selection=selection)
    if kernels is not None and own.dtype is torch.float32:
        if not usable:
            return unanswered(name, own, kernels)
        residual, figures = kernels.split(wide.detach().double(), own)
        parts = Parts(residual, figures.answer_squares, figures.answer_peak, figures.misplaced_count)
        return from_parts(name, own, parts, kernels)
    exact = wide.detach().double().contiguous().clone() if usable else own.double()
    # Where float32 overflows, its infinities are the answer.
    answer = Answer(name, own, wide=exact, stick=norms.yardstick(own, exact, widened=not usable))
    if not (norms.all_finite(own) and norms.all_finite(exact)):
        answer.overflows = int((torch.isfinite(own) != torch.isfinite(exact)).sum())
    return answer


def unanswered(name, own, kernels):
    """Held against its own run, with wider bounds."""
    stick = norms.yardstick(own, norms.Pair(own, None), widened=True)
    return Answer(name, own, stick=stick, kernels=kernels)


def from_parts(name, own, parts, kernels):
    """From a residual that was made in one go or in pieces."""
    scale, peak = norms.scale_and_peak(parts.squares, parts.peak, own.numel())
    answer = Answer(name, own, residual=parts.residual, kernels=kernels)
    answer.overflows = parts.overflows
    zero = norms.Norms(0.0, 0.0, 0.0, 0)
    answer.stick = norms.Yardstick(scale, max(peak, 1.0), norms.floor_of(own.dtype), zero, False)
    answer.stick = answer.stick._replace(torch_norms=answer.measure(own))
    return answer
