"""A candidate's file: `class ModelNew`, in KernelBench's form."""

import contextlib
import importlib.util
import inspect
import os
import sys

import torch

from warpsmith_host_code import values
from warpsmith_host_code.faults import Fault, fault_of

_MODULE_NAME = "warpsmith_candidate"
CONSTRUCTION_SEED = 42  # before each constructor, as the problem's own module has it


def _default_device(device):
    """As the problem's own module was made: the same generator gives the same weights."""
    context = torch.device(device)
    makes = context.type == "cuda" and hasattr(context, "__enter__")
    return context if makes else contextlib.nullcontext()


def load(folder, source, constants):
    """(class ModelNew, path). The file lies in `folder`: Triton and inspect read a function's text from it."""
    path = os.path.join(folder, _MODULE_NAME + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    try:
        spec = importlib.util.spec_from_file_location(_MODULE_NAME, path)
        module = importlib.util.module_from_spec(spec)
        for name, value in constants.items():
            setattr(module, name, values.decode(value))
        sys.modules[_MODULE_NAME] = module
        spec.loader.exec_module(module)
    except BaseException as error:  # exit() at module level too
        raise fault_of(error, "source", "importing the file", path) from error
    model = getattr(module, "ModelNew", None)
    if model is None:
        raise Fault("no_model", "the file has no class ModelNew; name the module's class so")
    if not (inspect.isclass(model) and issubclass(model, torch.nn.Module)):
        raise Fault("no_model", "ModelNew is no torch.nn.Module; write class ModelNew(torch.nn.Module)")
    return model, path


def build(model_class, path, constructor, device, eval_mode):
    """ModelNew with the arguments and the seed of the problem's own module."""
    positional, named = constructor
    try:
        torch.manual_seed(CONSTRUCTION_SEED)
        with torch.no_grad(), _default_device(device):
            model = model_class(*positional, **named)
        with torch.no_grad():
            model = model.to(device)
        if eval_mode:
            model.eval()
        return model
    except BaseException as error:
        raise fault_of(error, "constructor", "ModelNew(*get_init_inputs())", path) from error
