"""How far an output is from the float64 answer, and how far it may be.

Three norms, each relative:
- rms: RMS of the error over RMS of the answer. A mean over everything.
- tile: the worst stretch of TILE consecutive elements: RMS of its error over its own scale, the RMS of the answer
  there, but no less than TILE_FLOOR of the whole answer's. One wrong block stands out that a mean over everything
  hides.
- maximum: the largest error over RMS of the answer. One wrong element stands out.

Bound of a norm in a class: min(cap, factor * max(what PyTorch's own run reaches in that norm, the floor)), where the
floor is 2^-22 for outputs of float32 and a quarter of the type's epsilon for narrower ones, times the answer's peak
over its RMS for the maximum norm. An output is in a class if all three hold. The classes: fp32, then tf32 (tf32 or fp16
arithmetic, not to be told apart by error), then bf16.

The factors and caps of the whole-output RMS (16, 2^12, 2^15; 1e-2, 2e-2, 5e-2) are the contract's. Those of the other
two norms were found on the corpora of tests/gpu_worker/reference/corpus.py (honest: float32 in several summation
orders, tf32, fp16 and bf16 operands, float16 accumulators; hostile: wrong tiles, rows, columns and elements, stale
rows, scale errors, lost biases and means). In units of max(PyTorch's own, floor), the largest honest values seen in the
norms (rms, tile, maximum) were 2^2.0, 2^2.5, 2^3.2 for fp32 (a running sum over thousands, which loses most), 2^11.0,
2^10.9, 2^10.9 for tf32 and fp16, 2^13.3, 2^13.5, 2^13.0 for bf16; the smallest hostile ones that the RMS alone does not
refuse lie at 2^12.6 and above in the maximum norm for tf32. So fp32 has 2^5 in both (a running sum's error grows with
its length, and the nearest hostile value is far away), tf32 and bf16 keep the RMS norm's factors. Caps: errors of one
precision are spread alike over an output, so a tile's cap is four times the RMS's (two for fp32), and an element's,
some standard deviations, five times, which on an output of one size throughout still refuses an element that is half
again too large.
"""

import collections
import math

import torch

TILE = 256
TILE_FLOOR = 2.0 ** -10
_CHUNK = TILE << 14

Norms = collections.namedtuple("Norms", "rms tile maximum worst")  # worst: flat index of the largest error
Yardstick = collections.namedtuple("Yardstick", "scale peak floor torch_norms widened")
Limit = collections.namedtuple("Limit", "factor cap")

FP32, TF32, BF16 = "PRECISION_CLASS_FP32", "PRECISION_CLASS_TF32", "PRECISION_CLASS_BF16"
CLASSES = (FP32, TF32, BF16)  # strict to loose

LIMITS = {
    FP32: Norms(Limit(16.0, 1e-2), Limit(32.0, 2e-2), Limit(32.0, 5e-2), None),
    TF32: Norms(Limit(2.0 ** 12, 2e-2), Limit(2.0 ** 12, 8e-2), Limit(2.0 ** 12, 1e-1), None),
    BF16: Norms(Limit(2.0 ** 15, 5e-2), Limit(2.0 ** 15, 2e-1), Limit(2.0 ** 15, 2.5e-1), None),
}

# Where the module cannot run in float64 the answer is the float32 run itself, which may be off as far as a candidate.
WIDENED = 8.0


class Pair:
    """A float64 answer kept as two float32 tensors: PyTorch's own run, and the answer less that run (None: nothing).

    The difference is 2^-22 or so of the answer, and float32 holds it to 2^-24 of itself, so that the answer is kept to
    some 46 bits, a hundred thousand times finer than the finest bound. Slices are float64.
    """

    def __init__(self, own, residual):
        self.own, self.residual = own.reshape(-1), None if residual is None else residual.reshape(-1)

    def __getitem__(self, part):
        wide = self.own[part].double()
        return wide if self.residual is None else wide + self.residual[part].double()

    def numel(self):
        return self.own.numel()

    def reshape(self, _):
        return self


def all_finite(values):
    """Whether no element is NaN or infinite. A finite sum says so in one pass that keeps nothing; only a sum that is
    not has to be looked at element by element, since finite ones may overflow together."""
    if math.isfinite(float(values.sum(dtype=torch.float64))):
        return True
    return bool(torch.isfinite(values).all())


def count_infinite(values):
    return 0 if all_finite(values) else int((~torch.isfinite(values)).sum())


def finite_scale(answer):
    """RMS and peak over RMS of the finite elements."""
    values = answer.reshape(-1)
    squares, peak = 0.0, 0.0
    for start in range(0, values.numel(), _CHUNK):
        part = values[start:start + _CHUNK]
        if not all_finite(part):
            part = torch.where(torch.isfinite(part), part, torch.zeros_like(part))
        squares += float((part * part).sum())
        peak = max(peak, float(part.abs().max()))
    return scale_and_peak(squares, peak, values.numel())


def scale_and_peak(squares, peak, count):
    scale = math.sqrt(squares / max(count, 1))
    return (scale, peak / scale) if scale > 0 else (0.0, 1.0)


def over(error, scale):
    return error / scale if scale > 0 else (0.0 if error == 0 else math.inf)


def measure(got, answer, scale):
    """Norms of got against an answer of the same shape: a float64 tensor, or a Pair. Elements that are not finite in
    either are left out."""
    got, answer = got.reshape(-1), answer.reshape(-1)
    squares, largest, worst, worst_tile = 0.0, 0.0, 0, 0.0
    for start in range(0, answer.numel(), _CHUNK):
        expected = answer[start:start + _CHUNK]
        error = got[start:start + _CHUNK].double() - expected
        if not all_finite(error):
            usable = torch.isfinite(error)
            error = torch.where(usable, error, torch.zeros_like(error))
            expected = torch.where(usable, expected, torch.zeros_like(expected))
        index = int(error.abs().argmax())
        if float(error[index].abs()) > largest:
            largest, worst = float(error[index].abs()), start + index
        error_squares, answer_squares = error * error, expected * expected
        squares += float(error_squares.sum())
        floor = (scale * TILE_FLOOR) ** 2
        whole = error.numel() // TILE * TILE
        for first, last, width in ((0, whole, TILE), (whole, error.numel(), error.numel() - whole)):
            if last > first:
                error_tiles = error_squares[first:last].view(-1, width).mean(1)
                answer_tiles = answer_squares[first:last].view(-1, width).mean(1).clamp(min=floor)
                ratio = error_tiles / answer_tiles
                ratio = torch.where(error_tiles > 0, ratio, torch.zeros_like(ratio))
                worst_tile = max(worst_tile, math.sqrt(float(ratio.max())))
    rms = math.sqrt(squares / max(answer.numel(), 1))
    return Norms(over(rms, scale), worst_tile, over(largest, scale), worst)


def floor_of(dtype):
    """What an error counts as at least."""
    return torch.finfo(dtype).eps / 4 if dtype in (torch.float16, torch.bfloat16) else 2.0 ** -22


def yardstick(torch_output, answer, widened=False):
    """What PyTorch's own run reaches against float64; `widened` where there is no float64 answer."""
    scale, peak = finite_scale(answer)
    return Yardstick(scale, max(peak, 1.0), floor_of(torch_output.dtype), measure(torch_output, answer, scale), widened)


def bounds(precision_class, stick):
    """Norms' bounds in a class (worst is None)."""
    wider = WIDENED if stick.widened else 1.0
    rms, tile, maximum, _ = LIMITS[precision_class]
    floor = stick.floor * wider
    own = stick.torch_norms
    return Norms(min(rms.cap, rms.factor * max(own.rms, floor)),
                 min(tile.cap, tile.factor * max(own.tile, floor)),
                 min(maximum.cap * stick.peak, maximum.factor * max(own.maximum, floor * stick.peak)), None)


def within(norms, limit):
    return norms.rms <= limit.rms and norms.tile <= limit.tile and norms.maximum <= limit.maximum


def reached(norms, stick):
    """The strictest class whose bounds hold; None where none does."""
    return next((name for name in CLASSES if within(norms, bounds(name, stick))), None)


def outputs_agree(outputs, wanted, most_rms):
    """Whether two lists of tensors say the same: floating ones to an RMS error of `most_rms` with NaN in the same
    places, all others exactly."""
    if len(outputs) != len(wanted):
        return False
    for output, answer in zip(outputs, wanted):
        if output.shape != answer.shape or output.dtype != answer.dtype:
            return False
        if torch.equal(output, answer):  # the usual case, in one pass
            continue
        if not output.is_floating_point():
            return False
        if bool((torch.isnan(output) != torch.isnan(answer)).any()):
            return False
        wide = Pair(answer.contiguous(), None)
        scale, _ = finite_scale(wide)
        if measure(output.contiguous(), wide, scale).rms > most_rms:
            return False
    return True
