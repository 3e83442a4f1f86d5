"""Prints the signatures of problem files as JSON, for checking plans where there is no GPU to take the problems in.

Usage: signatures.py NAME=FILE ...: {"NAME": a ProblemSignature, ...}. Names, shapes, types and strides only. A module
in half precision is run in float32 where this machine's PyTorch cannot do otherwise; its output counts as half.
"""

import importlib.util
import inspect
import json
import sys

import torch


def spec(name, tensor, role, dtype=None):
    dtype = dtype or tensor.dtype
    return {"name": name, "dtype": str(dtype).replace("torch.", ""), "shape": list(tensor.shape),
            "strides": list(tensor.stride()), "role": f"TENSOR_ROLE_{role}",
            "storageBytes": tensor.numel() * tensor.element_size()}


def run(model, inputs):
    with torch.no_grad():
        try:
            return model(*inputs), None
        except RuntimeError:
            dtype = inputs[0].dtype
            return model(*[value.float() for value in inputs]), dtype


def signature(path):
    loader = importlib.util.spec_from_file_location("problem", path)
    problem = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(problem)
    model = problem.Model(*problem.get_init_inputs())
    inputs = problem.get_inputs()
    names = list(inspect.signature(model.forward).parameters)
    tensors = [spec(name, value, "INPUT") for name, value in zip(names, inputs)]
    tensors += [spec(name, value, "PARAMETER") for name, value in model.named_parameters()]
    tensors += [spec(name, value, "BUFFER") for name, value in model.named_buffers()]
    output, dtype = run(model, inputs)
    if isinstance(output, (tuple, list)):
        tensors += [spec(f"output{i}", value, "OUTPUT", dtype) for i, value in enumerate(output)]
    else:
        tensors.append(spec("output", output, "OUTPUT", dtype))
    return {"tensors": tensors}


def main():
    pairs = (argument.split("=", 1) for argument in sys.argv[1:])
    print(json.dumps({name: signature(path) for name, path in pairs}))


if __name__ == "__main__":
    main()
