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

from warpsmith_oracle.errors import OracleError, refuse

MAX_SOURCE_BYTES = 1 << 20
_CONSTRUCTION_SEED = 42


class ProblemFile:
    """The imported file. `stage` is told what is running, so that a hang or a crash can be named."""

    def __init__(self, name, source, stage):
        self.display_name = f"{name}.py"
        self._stage = stage
        if len(source.encode()) > MAX_SOURCE_BYTES:
            raise OracleError("import", f"{self.display_name}: the file is over 1 MiB; a problem file holds code only")
        self._folder = tempfile.TemporaryDirectory(prefix="warpsmith-problem-")
        self._module_name = "warpsmith_problem_" + (re.sub(r"\W", "_", name) or "unnamed")
        self.path = os.path.join(self._folder.name, self._module_name + ".py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(source)
        self._import()

    def _import(self):
        self._stage("import")
        spec = importlib.util.spec_from_file_location(self._module_name, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[self._module_name] = module
        try:
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

    def build(self, eval_mode, device):
        """The module with its real parameters: the same at each call."""
        self._stage("no_model")
        torch.manual_seed(_CONSTRUCTION_SEED)
        try:
            with torch.no_grad():
                arguments = self._module.get_init_inputs()
                if isinstance(arguments, dict):
                    model = self._module.Model(**arguments)
                elif isinstance(arguments, (list, tuple)):
                    model = self._module.Model(*arguments)
                else:
                    raise OracleError("inputs", f"{self.display_name}: get_init_inputs() returned "
                                                f"{type(arguments).__name__}; return a list of Model's arguments")
                model = model.to(device)
        except BaseException as error:
            raise refuse(error, "no_model", "Model(*get_init_inputs())", self) from error
        if eval_mode:
            model.eval()
        return model

    def inputs(self):
        """What get_inputs() returns, as a list."""
        self._stage("inputs")
        try:
            with torch.no_grad():
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
            with torch.no_grad():
                return model(*arguments)
        except BaseException as error:
            raise refuse(error, "forward", what, self) from error
