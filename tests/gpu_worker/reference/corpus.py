"""Honest and hostile outputs for a handful of operators, to find and to hold the judge's factors.

A case is (operator, answer in float64, PyTorch's own float32 output, name, output, loosest class it may reach or None,
honest?). An honest output must reach its class or a stricter one. A hostile output must reach none, but for those that
lie no farther from the answer than an honest kernel of a low precision does: these have the strictest class that they
may reach, which is never fp32.
"""

import torch

from warpsmith_oracle.norms import BF16, FP32, TF32

# On inputs far from zero the answer's RMS is mostly its mean, and an error of a few thousandths of what varies is small
# beside it; a long sum's own error in float32 widens the looser classes. On the operators' own inputs each of these is
# refused.
NEAR = {
    ("long matmul", "one percent too large"): BF16, ("shifted matmul", "one k lost"): BF16,
    ("softmax", "one column lost from the sum"): BF16, ("shifted sum", "last column lost"): TF32,
    ("shifted sum", "first column twice"): TF32, ("shifted sum", "two rows swapped"): BF16,
    ("shifted sum", "stale rows"): BF16, ("shifted sum", "off by one"): BF16,
    # One part in a hundred is PyTorch's own error times forty here.
    ("layer norm at 1000", "variance with n - 1"): TF32, ("layer norm at 1000", "one percent too large"): TF32,
}


def tf32(x):
    """Operands as a tensor core takes them: 10 bits of mantissa, rounded half away from zero."""
    bits = x.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def half(x):
    return x.half().float()


def bfloat(x):
    return x.bfloat16().float()


def naive_product(a, b):
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        total += a[:, k:k + 1] * b[k:k + 1]
    return total


def tiled_product(a, b, tile):
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(0, a.shape[1], tile):
        total += naive_product(a[:, k:k + tile], b[k:k + tile])
    return total


def half_accumulated_product(a, b, tile=16):
    total = torch.zeros(a.shape[0], b.shape[1]).half()
    for k in range(0, a.shape[1], tile):
        total = (total.float() + half(a[:, k:k + tile]) @ half(b[k:k + tile])).half()
    return total.float()


def running_sum(x):
    total = torch.zeros(x.shape[0])
    for column in range(x.shape[1]):
        total += x[:, column]
    return total


def pairwise_sum(x):
    while x.shape[1] > 1:
        if x.shape[1] % 2:
            x = torch.cat([x, torch.zeros(x.shape[0], 1)], 1)
        x = x[:, ::2] + x[:, 1::2]
    return x[:, 0]


def strided_sum(x, lanes=32):
    padding = -x.shape[1] % lanes
    x = torch.cat([x, torch.zeros(x.shape[0], padding)], 1).view(x.shape[0], -1, lanes)
    total = torch.zeros(x.shape[0], lanes)
    for step in range(x.shape[1]):
        total += x[:, step]
    return pairwise_sum(total)


def layer_norm_by(total, x, weight, bias):
    mean = total(x)[:, None] / x.shape[1]
    centred = x - mean
    variance = total(centred * centred)[:, None] / x.shape[1]
    return centred / torch.sqrt(variance + 1e-5) * weight + bias


def softmax_by(total, x):
    exponential = torch.exp(x - x.max(1, keepdim=True).values)
    return exponential / total(exponential)[:, None]


SUMS = {"running": running_sum, "pairwise": pairwise_sum, "strided": strided_sum}


def _products(generator, shape, shift, name):
    m, k, n = shape
    a = torch.randn(m, k, generator=generator) + shift
    b = torch.randn(k, n, generator=generator) + shift
    answer = a.double() @ b.double()
    honest = {
        "naive": (naive_product(a, b), FP32), "tiled 8": (tiled_product(a, b, 8), FP32),
        "tiled 32": (tiled_product(a, b, 32), FP32), "reversed": (naive_product(a.flip(1), b.flip(0)), FP32),
        "tf32": (tf32(a) @ tf32(b), TF32), "half operands": (half(a) @ half(b), TF32),
        "bfloat16 operands": (bfloat(a) @ bfloat(b), BF16),
        "half accumulator": (half_accumulated_product(a, b), BF16),
    }
    own = a @ b
    hostile = {"one k lost": naive_product(a[:, :-1], b[:-1]), "operands swapped in a tile": _swap_tile(own)}
    return name, answer, own, honest, hostile


def _swap_tile(output):
    output = output.clone()
    output[:16, :16] = output[:16, :16].t().clone()
    return output


def _layer_norms(generator, shape, shift, name):
    x = torch.randn(*shape, generator=generator) * (0.1 if shift else 1.0) + shift
    weight = torch.rand(shape[1], generator=generator) + 0.5
    bias = torch.randn(shape[1], generator=generator)
    answer = torch.nn.functional.layer_norm(x.double(), shape[1:], weight.double(), bias.double())
    own = torch.nn.functional.layer_norm(x, shape[1:], weight, bias)
    honest = {f"{key} sums": (layer_norm_by(total, x, weight, bias), FP32) for key, total in SUMS.items()
              if not (shift and key == "running")}
    centred = x - x.mean(1, keepdim=True)
    hostile = {
        "bias lost": own - bias,
        "mean lost": x / x.std(1, keepdim=True) * weight + bias,
        "variance with n - 1": centred / x.std(1, keepdim=True) * weight + bias if shape[1] < 100 else own * 1.01,
        "weight lost": centred / x.std(1, keepdim=True) + bias,
    }
    if shift:
        squares = (x * x).mean(1, keepdim=True) - x.mean(1, keepdim=True) ** 2
        hostile["variance as E[x^2] - E[x]^2"] = centred / torch.sqrt(squares.clamp(min=0) + 1e-5) * weight + bias
    return name, answer, own, honest, hostile


def _softmaxes(generator, shape, scale, name):
    x = torch.randn(*shape, generator=generator) * scale
    answer = torch.softmax(x.double(), 1)
    own = torch.softmax(x, 1)
    honest = {f"{key} sums": (softmax_by(total, x), FP32) for key, total in SUMS.items()}
    exponential = torch.exp2((x - x.max(1, keepdim=True).values) * 1.4426950408889634)
    honest["exp2"] = (exponential / exponential.sum(1, keepdim=True), FP32)
    flushed = own.clone()
    flushed[flushed < 1.2e-38] = 0
    honest["subnormals flushed"] = (flushed, FP32)
    hostile = {"uniform": torch.full_like(own, 1.0 / shape[1]), "over the wrong dimension": torch.softmax(x, 0)}
    if scale == 1.0:  # where one element is all of the sum, the last column adds nothing to it
        hostile["one column lost from the sum"] = own / (1 - own[:, -1:]).clamp(min=0.5)
    return name, answer, own, honest, hostile


def _sums(generator, shape, shift, name):
    x = torch.randn(*shape, generator=generator) + shift
    answer = x.double().sum(1)
    honest = {key: (total(x), FP32) for key, total in SUMS.items()}
    hostile = {"last column lost": x[:, :-1].sum(1), "first column twice": x.sum(1) + x[:, 0]}
    return name, answer, x.sum(1), honest, hostile


def _gelus(generator, shape, name):
    x = torch.randn(*shape, generator=generator)
    answer = torch.nn.functional.gelu(x.double())
    own = torch.nn.functional.gelu(x)
    honest = {"by erf": (0.5 * x * (1 + torch.erf(x * 0.7071067811865476)), FP32)}
    hostile = {"identity": x.clone(), "relu": torch.relu(x)}
    return name, answer, own, honest, hostile


def _convolutions(generator, name):
    x = torch.randn(4, 8, 24, 24, generator=generator)
    weight = torch.randn(16, 8, 3, 3, generator=generator) / 8.5
    bias = torch.randn(16, generator=generator) * 0.1
    conv = torch.nn.functional.conv2d
    answer = conv(x.double(), weight.double(), bias.double(), padding=1)
    columns = torch.nn.functional.unfold(x, 3, padding=1)
    by_columns = torch.stack([naive_product(weight.view(16, -1), image) for image in columns]).view(4, 16, 24, 24)
    honest = {"by columns": (by_columns + bias.view(1, -1, 1, 1), FP32),
              "tf32": (conv(tf32(x), tf32(weight), bias, padding=1), TF32),
              "half": (conv(half(x), half(weight), bias, padding=1), TF32),
              "bfloat16": (conv(bfloat(x), bfloat(weight), bias, padding=1), BF16)}
    own = conv(x, weight, bias, padding=1)
    border = own.clone()
    border[..., 0] = conv(x, weight, bias, padding=1)[..., 1]
    hostile = {"bias lost": conv(x, weight, padding=1), "weight flipped": conv(x, weight.flip(3), bias, padding=1),
               "border repeated": border}
    return name, answer, own, honest, hostile


def common_hostile(own, generator):
    """Outputs that are wrong whatever the operator, made from a right one."""
    flat = own.reshape(-1)
    rows = own.reshape(own.shape[0], -1) if own.dim() > 1 else own.reshape(-1, 1)
    span = max(min(256, flat.numel() // 8), 1)
    result = {"zeros": torch.zeros_like(own), "one percent too large": own * 1.01}

    def changed(name, change):
        copy = rows.clone()
        change(copy)
        result[name] = copy.view_as(own)

    # A stretch that weighs something: a peaked softmax is zero nearly everywhere.
    first = min(int(flat.abs().argmax()) // span * span, flat.numel() - span)

    def tile(copy):
        copy.view(-1)[first:first + span] = 0

    def noisy_tile(copy):
        stretch = copy.view(-1)[first:first + span]
        stretch += stretch.abs().mean() * 0.5 * torch.randn(stretch.shape, generator=generator)

    def element(copy):
        position = int(flat.abs().argmax())
        copy.view(-1)[position] *= 1.5

    def swapped(copy):
        copy[[0, 1]] = copy[[1, 0]]

    def stale(copy):
        copy[-2:] = copy[:2].clone()

    changed("one tile zero", tile)
    changed("one tile noisy", noisy_tile)
    changed("one element wrong", element)
    changed("two rows swapped", swapped)
    changed("stale rows", stale)
    changed("off by one", lambda copy: copy.copy_(copy.view(-1).roll(1).view_as(copy)))
    return result


def cases(seed=1):
    """Yields (operator, answer, own, name, output, expected class or None, honest?)."""
    generator = torch.Generator().manual_seed(seed)
    operators = [
        _products(generator, (96, 64, 96), 0.0, "matmul"),
        _products(generator, (64, 1024, 64), 0.0, "long matmul"),
        _products(generator, (64, 256, 64), 3.0, "shifted matmul"),
        _layer_norms(generator, (32, 2048), 0.0, "layer norm"),
        _layer_norms(generator, (32, 4096), 1000.0, "layer norm at 1000"),
        _layer_norms(generator, (512, 48), 0.0, "narrow layer norm"),
        _softmaxes(generator, (32, 2048), 1.0, "softmax"),
        _softmaxes(generator, (32, 2048), 30.0, "peaked softmax"),
        _softmaxes(generator, (512, 16), 1.0, "narrow softmax"),
        _sums(generator, (300, 3000), 0.0, "sum"),
        _sums(generator, (300, 3000), 10.0, "shifted sum"),
        _gelus(generator, (64, 1000), "gelu"),
        _convolutions(generator, "conv2d"),
    ]
    for operator, answer, own, honest, hostile in operators:
        for name, (output, expected) in honest.items():
            yield operator, answer, own, name, output, expected, True
        for name, output in {**hostile, **common_hostile(own, generator)}.items():
            yield operator, answer, own, name, output, NEAR.get((operator, name)), False
