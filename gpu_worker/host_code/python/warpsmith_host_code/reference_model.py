"""The problem's own module, run as a candidate is: what a candidate's time is held against. Only in a process that no
candidate's code ever enters; it uses the oracle's package for the problem's file."""

import torch

from warpsmith_host_code import values
from warpsmith_host_code.faults import Fault


def _form(name, value, tensor_names):
    """What forward()'s argument is made of: tensors by their published names, everything else as it is."""
    if isinstance(value, torch.Tensor):
        tensor_names.append(name)
        return {"name": name}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"type": kind, "entries": [_form(f"{name}[{index}]", entry, tensor_names)
                                          for index, entry in enumerate(value)]}
    if isinstance(value, dict):
        return {"type": "dict", "entries": [[key, _form(f"{name}[{key}]", entry, tensor_names)]
                                            for key, entry in value.items()]}
    return {"value": values.encode(value)}


class Reference:
    def __init__(self, name, source, settings, device):
        from warpsmith_oracle import errors, tensors
        from warpsmith_oracle.problem_file import ProblemFile
        try:
            self.file = ProblemFile(name, source, lambda stage: None, device)
            self.model = self.file.build(bool(settings.get("eval_mode")))
            inputs = self.file.inputs()
            self._initialise_lazy_modules(inputs, device)
            names, _ = tensors.argument_names(self.model, inputs, self.file)
        except errors.OracleError as error:
            raise Fault("request", error.message) from error
        tensor_names = []
        try:
            self.form = [_form(argument, value, tensor_names) for argument, value in zip(names, inputs)]
            positional, named = self.file.constructor_arguments()
            self.constructor = [values.encode(list(positional)), values.encode(dict(named))]
        except values.NotPlain as error:
            message = (f"{name}.py: get_inputs() or get_init_inputs() holds a {error}, which cannot be handed to a "
                       "candidate's process; use numbers, strings, tensors and lists")
            raise Fault("request", message) from error
        self.constants = values.constants_of(self.file.module)

    def _initialise_lazy_modules(self, inputs, device):
        is_lazy = torch.nn.parameter.is_lazy
        if any(is_lazy(tensor) for tensor in list(self.model.parameters()) + list(self.model.buffers())):
            moved = [value.to(device) if isinstance(value, torch.Tensor) else value for value in inputs]
            self.file.call(self.model, moved)
