"""Outputs that are indexes of extremes or of sorted values: any index whose value is the same is right.

The reference run is watched for argmax, argmin, max and min over a dimension, topk, sort and the like; an output that
is the index tensor of one of these is then judged by the values it points at.
"""

import collections

import torch
from torch.overrides import TorchFunctionMode

_SELECTIONS = frozenset(("argmax", "argmin", "max", "min", "topk", "sort", "argsort", "kthvalue", "median", "mode",
                         "cummax", "cummin"))
_BARE = frozenset(("argmax", "argmin", "argsort"))
_DISTINCT = frozenset(("topk", "sort", "argsort"))  # no index twice along the dimension
# Values that the module computed may differ in the last bits from a candidate's, so that near ties are ties there.
_NEAR_TIE = 2.0 ** -18

Selection = collections.namedtuple("Selection", "source dim indexes exact distinct")


def _dimension(func_name, args, kwargs):
    position = 2 if func_name in ("topk", "kthvalue") else 1
    dim = kwargs.get("dim", args[position] if len(args) > position else None)
    if dim is None and func_name in ("topk", "sort", "argsort", "kthvalue", "mode"):
        dim = -1
    return dim if isinstance(dim, int) and not isinstance(dim, bool) else None


class Recorder(TorchFunctionMode):
    """Remembers selections while a module runs. `exact_pointers`: data of inputs and module tensors."""

    def __init__(self, exact_pointers=()):
        super().__init__()
        self._exact = frozenset(exact_pointers)
        self.selections = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name in _SELECTIONS and args and isinstance(args[0], torch.Tensor):
            bare = isinstance(result, torch.Tensor)  # max(a, b) of integers returns values
            indexes = (result if name in _BARE else None) if bare else getattr(result, "indices", None)
            if isinstance(indexes, torch.Tensor) and indexes.dtype is torch.int64 and args[0].dim() > 0:
                self._remember(name, args, kwargs, indexes)
        return result

    def _remember(self, name, args, kwargs, indexes):
        source = args[0]
        exact = source.data_ptr() in self._exact
        dim = _dimension(name, args, kwargs)
        if dim is None:
            source, dim = source.reshape(-1), 0
        dim %= source.dim()
        source = source.detach().clone()
        shape = list(source.shape)
        shape[dim] = indexes.numel() * shape[dim] // max(source.numel(), 1)
        if torch.Size(shape).numel() == indexes.numel():
            self.selections.append((indexes, Selection(source, dim, torch.Size(shape), exact, name in _DISTINCT)))

    def match(self, output):
        """The selection whose indexes an output is; None where it is none."""
        for indexes, selection in reversed(self.selections):
            if indexes.data_ptr() == output.data_ptr() and indexes.numel() == output.numel() > 0:
                return selection
        return None


def wrong_indexes(selection, got, expected):
    """A mask, in the output's shape, of the indexes that point at another value than the reference's."""
    shape = selection.indexes
    picked, wanted = got.reshape(shape).long(), expected.reshape(shape).long()
    size = selection.source.shape[selection.dim]
    outside = (picked < 0) | (picked >= size)
    values = torch.gather(selection.source, selection.dim, picked.clamp(0, max(size - 1, 0)))
    targets = torch.gather(selection.source, selection.dim, wanted)
    wrong = values != targets
    if values.is_floating_point():
        wrong &= ~(torch.isnan(values) & torch.isnan(targets))
        if not selection.exact:
            scale = selection.source.abs().amax(selection.dim, keepdim=True)
            wrong &= ~((values - targets).abs() <= _NEAR_TIE * scale)
    wrong |= outside
    if selection.distinct and picked.shape[selection.dim] > 1:
        ordered, order = torch.sort(picked, selection.dim)
        repeated = torch.zeros_like(wrong)
        rest = ordered.shape[selection.dim] - 1
        again = ordered.narrow(selection.dim, 1, rest) == ordered.narrow(selection.dim, 0, rest)
        repeated.narrow(selection.dim, 1, rest).copy_(again)
        wrong |= torch.zeros_like(wrong).scatter(selection.dim, order, repeated)
    return wrong.reshape(expected.shape)

