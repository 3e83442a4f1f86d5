"""The module in float64: whole, in pieces of the batch where the whole does not fit, or not at all.

Pieces are sound only where the items of a batch do not meet. That is tried, not believed: two pieces run in the
module's own precision must agree with the whole run to far less than the finest bound, and each float64 piece must lie
near the whole run; modules that are known to mix a batch (batch normalisation in training mode) are not tried.
"""

import copy

import torch

from warpsmith_oracle import answers, device as devices, norms, precision, tensors
from warpsmith_oracle.errors import is_memory_error

_INDEPENDENT_RMS = 2.0 ** -20  # two runs of float32 kernels that split their work another way
_NEAR_RMS = 2.0 ** -12         # float32 against float64
_MOST_PIECES = 256

def run(problem, case):
    """(result, module's and arguments' tensors by name after it) in float64; (None, {}) with a note where it does not
    run. Raises what PyTorch raises where memory does not do."""
    try:
        model = precision.double_copy(case.model)
        arguments = precision.double_arguments(case.arguments)
        with precision.double_precision(), torch.no_grad(), devices.default_device(problem.device):
            result = model(*arguments)
        after = {name: tensor.detach() for name, _, tensor in problem.state(model, arguments)}
        for _, tensor in tensors.flatten_outputs(result):
            if tensor.is_floating_point() and tensor.dtype is not torch.float64:
                case.notes.append("the module narrows its result itself; its float64 run is not exact")
        return result, after
    except (RuntimeError, TypeError, ValueError, NotImplementedError, MemoryError) as error:
        if is_memory_error(error) and devices.is_cuda(problem.device):
            raise
        reason = (str(error).splitlines() or [""])[0][:120]
        case.notes.append(f"the module does not run in float64 ({reason}); outputs are held against its own run")
        return None, {}


def _mixes_batches(model):
    return any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and
               (module.training or not module.track_running_stats) for module in model.modules())


def _slices(arguments, batch, only_first):
    """A function that cuts the arguments to items [start, stop); None where no argument has the batch."""
    chosen = []

    def note(tensor):
        if tensor.dim() > 0 and tensor.shape[0] == batch and not (only_first and chosen):
            chosen.append(id(tensor))
        return tensor
    precision.map_tensors(arguments, note)
    if not chosen:
        return None
    return lambda start, stop: precision.map_tensors(
        arguments, lambda tensor: tensor[start:stop] if id(tensor) in chosen else tensor)


def _agrees(problem, case, cut, own, start, stop):
    """Whether a piece run by itself, in the module's own precision, gives what the whole run gave."""
    result = problem.file.call(copy.deepcopy(case.model), copy.deepcopy(cut(start, stop)))
    pieces = [piece for _, piece in tensors.flatten_outputs(result)]
    return norms.outputs_agree(pieces, [whole[start:stop] for _, whole in own], _INDEPENDENT_RMS)


def _float_pieces(problem, case, cut, own, bounds):
    """Parts of each float output by name."""
    parts = {name: [torch.empty_like(value), 0.0, 0.0, 0] for name, value in own if value.dtype is torch.float32}
    model = precision.double_copy(case.model)
    for start, stop in bounds:
        arguments = precision.double_arguments(cut(start, stop))
        with precision.double_precision(), torch.no_grad(), devices.default_device(problem.device):
            result = dict(tensors.flatten_outputs(model(*arguments)))
        for name, value in own:
            if name not in parts:
                continue
            piece, mine = result[name].double(), value[start:stop]
            if piece.shape != mine.shape:
                return None
            difference = piece - mine
            finite = torch.isfinite(piece)
            kept = torch.where(finite, piece, torch.zeros_like(piece))
            off = torch.where(torch.isfinite(difference), difference, torch.zeros_like(difference))
            squares = float((kept * kept).sum())
            if float((off * off).sum()) > squares * _NEAR_RMS ** 2:
                return None  # not the same computation
            parts[name][0][start:stop] = difference.float()
            parts[name][1] += squares
            parts[name][2] = max(parts[name][2], float(kept.abs().max()))
            parts[name][3] += int((finite != torch.isfinite(mine)).sum())
    return {name: answers.Parts(*value) for name, value in parts.items()}


def pieces(problem, case, own):
    """Parts by output name, of outputs `own` [(name, tensor)]; None where the batch cannot be cut."""
    batch = next((value.shape[0] for _, value in own if value.dim() > 0), 1)
    if batch < 2 or _mixes_batches(case.model) or any(value.dim() == 0 or value.shape[0] != batch for _, value in own):
        return None
    count = 2
    while count <= min(batch, _MOST_PIECES):
        edges = [batch * index // count for index in range(count + 1)]
        bounds = list(zip(edges, edges[1:]))
        devices.empty_cache(problem.device)
        try:
            for only_first in (False, True):
                cut = _slices(case.arguments, batch, only_first)
                if cut is None or not all(_agrees(problem, case, cut, own, *edge) for edge in (bounds[0], bounds[-1])):
                    continue
                found = _float_pieces(problem, case, cut, own, bounds)
                if found is not None:
                    case.notes.append(f"float64 answers are made in {count} pieces of the batch")
                    return found
            return None
        except Exception as error:  # a slice that the module refuses, or memory
            if not is_memory_error(error) and getattr(error, "kind", "") != "memory":
                return None
            count *= 2
    return None
