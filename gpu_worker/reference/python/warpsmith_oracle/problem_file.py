"""A problem in KernelBench's file format: class Model, get_inputs() and get_init_inputs().

Source of the format: the problem files of the KernelBench project.
"""

import importlib.util
import inspect
import os
import re
import sys
import tempfile

import torch

from warpsmith_oracle import device as devices, precision
from warpsmith_oracle.errors import OracleError, refuse

MAX_SOURCE_BYTES = 1 << 20
_CONSTRUCTION_SEED = 42


def _binds(model, positional, named):
    try:
        inspect.signature(model).bind(*positional, **named)
    except (TypeError, ValueError):
        return False
    return True


def _constructor_arguments(model, values):
    """(positional, named) arguments of Model for what get_init_inputs() returned.

    A list of them; or a pair [[...], {...}] of positional and named ones, as some collections in this format have it.
    Where the pair could also be two arguments, it is a pair if its list is empty, and two arguments else.
    """
    if len(values) == 2 and isinstance(values[0], (list, tuple)) and isinstance(values[1], dict):
        named = all(isinstance(key, str) for key in values[1])
        if named and _binds(model, *values) and (not values[0] or not _binds(model, values, {})):
            return values
    return values, {}


class ProblemFile:
    """The imported file. `stage` is told what is running, so that a hang or a crash can be named.

    On a GPU the file's tensors are made there, its constants, parameters and inputs each, and on the CPU and moved
    where the file does not stand that."""

    def __init__(self, name, source, stage, device="cpu"):
        self.display_name = f"{name}.py"
        self.device = device
        self.makes_inputs_on_device = devices.makes_tensors(device)
        self._stage = stage
        if len(source.encode()) > MAX_SOURCE_BYTES:
            raise OracleError("import", f"{self.display_name}: the file is over 1 MiB; a problem file holds code only")
        self._folder = tempfile.TemporaryDirectory(prefix="warpsmith-problem-")
        self._module_name = "warpsmith_problem_" + (re.sub(r"\W", "_", name) or "unnamed")
        self.path = os.path.join(self._folder.name, self._module_name + ".py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(source)
        try:
            self._import(devices.makes_tensors(device))
        except OracleError as error:
            if error.kind == "memory" or not devices.makes_tensors(device):
                raise
            self._import(False)

    def _import(self, on_device):
        self._stage("import")
        spec = importlib.util.spec_from_file_location(self._module_name, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[self._module_name] = module
        try:
            with devices.default_device(self.device if on_device else "cpu"):
                spec.loader.exec_module(module)
        except BaseException as error:  # exit() at module level is an error of the file, not the end of this process
            raise refuse(error, "import", "importing the file", self) from error
        self._module = module
        model = getattr(module, "Model", None)
        if model is None:
            raise OracleError("no_model", f"{self.display_name}: there is no class Model; name the module's class so")
        if not (inspect.isclass(model) and issubclass(model, torch.nn.Module)):
            raise OracleError(
                "no_model", f"{self.display_name}: Model is not a torch.nn.Module; write class Model(torch.nn.Module)")
        for function, example in (("get_inputs", "return [torch.rand(16, 64)]"), ("get_init_inputs", "return []")):
            if not callable(getattr(module, function, None)):
                raise OracleError("inputs", f"{self.display_name}: there is no function {function}(); add "
                                            f"`def {function}(): {example}` with what Model needs")

    def close(self):
        sys.modules.pop(self._module_name, None)
        self._folder.cleanup()

    def build(self, eval_mode):
        """The module with its real parameters: the same at each call."""
        on_device = devices.makes_tensors(self.device)
        try:
            model = self._build(on_device)
        except OracleError as error:
            if error.kind == "memory" or not on_device:
                raise
            model = self._build(False)
        if eval_mode:
            model.eval()
        return model

    def _build(self, on_device):
        self._stage("no_model")
        torch.manual_seed(_CONSTRUCTION_SEED)
        try:
            with torch.no_grad(), devices.default_device(self.device if on_device else "cpu"):
                arguments = self._module.get_init_inputs()
                if isinstance(arguments, dict):
                    model = self._module.Model(**arguments)
                elif isinstance(arguments, (list, tuple)):
                    positional, named = _constructor_arguments(self._module.Model, arguments)
                    model = self._module.Model(*positional, **named)
                else:
                    raise OracleError("inputs", f"{self.display_name}: get_init_inputs() returned "
                                                f"{type(arguments).__name__}; return a list of Model's arguments")
            with torch.no_grad():
                model = model.to(self.device)
                precision.map_attributes(model, self._moved)
        except BaseException as error:
            raise refuse(error, "no_model", "Model(*get_init_inputs())", self) from error
        return model

    @property
    def module(self):
        """The imported file."""
        return self._module

    def constructor_arguments(self):
        """(positional, named) arguments of Model."""
        self._stage("no_model")
        try:
            with torch.no_grad():
                arguments = self._module.get_init_inputs()
        except BaseException as error:
            raise refuse(error, "no_model", "get_init_inputs()", self) from error
        if isinstance(arguments, dict):
            return [], arguments
        return _constructor_arguments(self._module.Model, arguments)

    def _moved(self, tensor):
        """Parameters in a list of the module's own have been moved with it."""
        placed = isinstance(tensor, torch.nn.Parameter) or tensor.device == torch.device(self.device)
        return tensor if placed else tensor.detach().to(self.device)

    def inputs(self):
        """What get_inputs() returns, as a list."""
        self._stage("inputs")
        try:
            with torch.no_grad(), devices.default_device(self.device if self.makes_inputs_on_device else "cpu"):
                values = self._module.get_inputs()
        except BaseException as error:
            raise refuse(error, "inputs", "get_inputs()", self) from error
        if not isinstance(values, (list, tuple)):
            raise OracleError("inputs", f"{self.display_name}: get_inputs() returned {type(values).__name__}; return a "
                                        "list with one entry for each argument of forward()")
        return list(values)

    def call(self, model, arguments, what="forward()"):
        """forward() without gradients, its exceptions turned into refusals."""
        self._stage("forward")
        try:
            with torch.no_grad(), devices.default_device(self.device):
                return model(*arguments)
        except BaseException as error:
            raise refuse(error, "forward", what, self) from error
