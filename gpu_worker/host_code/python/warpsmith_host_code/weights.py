"""The module's parameters and buffers for a candidate's: by name where its state has the same names and shapes, else in
the constructors' order where the shapes agree one by one, else as its constructor made them from the same seed."""

import torch

BY_NAME, BY_ORDER, BY_SEED, NONE = "name", "order", "seed", "none"


def _same(tensor, entry):
    return isinstance(tensor, torch.Tensor) and list(tensor.shape) == list(entry["shape"])


def _matched(own, wanted):
    """(how, [(published name, tensor)]) for lists of (name, tensor) and of published entries."""
    if not wanted:
        return NONE, []
    by_name = dict(own)
    first = [entry for entry in wanted if not entry.get("alias")]
    if all(_same(by_name.get(entry["name"]), entry) for entry in first):
        return BY_NAME, [(entry["name"], by_name[entry["name"]]) for entry in wanted
                         if _same(by_name.get(entry["name"]), entry)]
    if len(own) == len(first) and all(_same(tensor, entry) for (_, tensor), entry in zip(own, first)):
        return BY_ORDER, [(entry["name"], tensor) for (_, tensor), entry in zip(own, first)]
    return BY_SEED, []


def _attribute(model, path):
    """A tensor that is an attribute, by its dotted path; None where it is none."""
    value = model
    for name in path.split("."):
        value = getattr(value, name, None)
    return value if isinstance(value, torch.Tensor) else None


class Weights:
    def __init__(self, model, tensors):
        of_role = {role: [entry for entry in tensors if entry["role"] == role]
                   for role in ("parameter", "buffer", "attribute")}
        self.how, self._pairs = _matched(list(model.named_parameters()), of_role["parameter"])
        self._pairs = list(self._pairs)
        self._pairs += _matched(list(model.named_buffers()), of_role["buffer"])[1]
        for entry in of_role["attribute"]:
            own = _attribute(model, entry["name"][len("attr:"):])
            if own is not None and _same(own, entry):
                self._pairs.append((entry["name"], own))

    def load(self, slot):
        with torch.no_grad():
            for name, tensor in self._pairs:
                tensor.detach().copy_(slot.by_name[name])

    def give_back(self, slot, tensors):
        """What forward() made of buffers whose change is part of the answer."""
        updated = {entry["name"] for entry in tensors if entry.get("updated")}
        with torch.no_grad():
            for name, tensor in self._pairs:
                if name in updated:
                    slot.by_name[name].copy_(tensor.detach())
