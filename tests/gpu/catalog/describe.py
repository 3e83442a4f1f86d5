"""Prints problem files as JSON, as much of them as the catalog's recipes look at, without running them on a device.

    describe.py FILE...      [{"file": FILE, "problem": a v1.Problem}, ...]

Shapes come from PyTorch's meta device, or from a run on the CPU where PyTorch is older than 2.0.
"""

import contextlib
import importlib.util
import inspect
import json
import os
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, os.environ.get("WARPSMITH_ORACLE", str(ROOT / "gpu_worker" / "reference" / "python")))

from warpsmith_oracle import operators  # noqa: E402


def spec(name, tensor, role):
    return {"name": name, "dtype": str(tensor.dtype).replace("torch.", ""), "shape": list(tensor.shape),
            "strides": list(tensor.stride()), "role": f"TENSOR_ROLE_{role}",
            "storage_bytes": tensor.numel() * tensor.element_size()}


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in flat(item)] if isinstance(value, (list, tuple)) else []


def describe(path, device):
    with torch.device(device) if device else contextlib.nullcontext():
        loader = importlib.util.spec_from_file_location("problem", path)
        module = importlib.util.module_from_spec(loader)
        loader.loader.exec_module(module)
        model = module.Model(*module.get_init_inputs())
        inputs = module.get_inputs()
        tensors = []
        for name, value in zip(inspect.signature(model.forward).parameters, inputs):
            if isinstance(value, torch.Tensor):
                tensors.append(spec("input." + name if name.startswith("output") else name, value, "INPUT"))
        tensors += [spec(name, value, "PARAMETER") for name, value in model.named_parameters()]
        tensors += [spec(name, value, "BUFFER") for name, value in model.named_buffers()]
        with torch.no_grad():
            result, count = operators.count(lambda: model(*inputs))
        traced = operators.traced_names(model)
    many = isinstance(result, (list, tuple, dict))
    for index, value in enumerate(flat(result)):
        tensors.append(spec(f"output{index}" if many else "output", value.contiguous(), "OUTPUT"))
    path = pathlib.Path(path)
    return {"file": str(path), "problem": {
        "name": path.stem, "source": path.read_text(encoding="utf-8"),
        "signature": {"tensors": tensors, "operators": traced, "operator_family": operators.family(count.names, traced),
                      "training_mode": model.training}}}


def main():
    """What cannot be described is told and left out."""
    described = []
    for name in map(os.path.abspath, sys.argv[1:]):
        try:
            described.append(describe(name, "meta" if int(torch.__version__.split(".")[0]) >= 2 else ""))
        except Exception as error:  # a problem file may raise anything
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
    print(json.dumps(described))


if __name__ == "__main__":
    main()
