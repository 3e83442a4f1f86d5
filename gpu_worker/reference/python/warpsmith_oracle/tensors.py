"""Names, layouts and aliases of a problem's tensors, as the launch plan's contract has them."""

import inspect
import json

import torch

from warpsmith_oracle.errors import OracleError

_MODULE_INTERNALS = frozenset(torch.nn.Module().__dict__)
INPUT, PARAMETER, BUFFER, ATTRIBUTE, OUTPUT = (
    "TENSOR_ROLE_INPUT", "TENSOR_ROLE_PARAMETER", "TENSOR_ROLE_BUFFER", "TENSOR_ROLE_ATTRIBUTE", "TENSOR_ROLE_OUTPUT")
_DTYPES = frozenset(("float16", "bfloat16", "float32", "float64", "bool", "uint8", "int8", "int16", "int32", "int64"))


def dtype_name(dtype):
    return str(dtype).replace("torch.", "")


def flatten(name, value):
    """(name, leaf) pairs of nested lists, tuples and dictionaries: xs[0], d[key]."""
    if isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            yield from flatten(f"{name}[{index}]", entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from flatten(f"{name}[{key}]", entry)
    else:
        yield name, value


def argument_names(model, arguments, problem_file):
    """forward()'s parameter names for positional arguments, and (name, default) of those left out."""
    parameters = [parameter for parameter in inspect.signature(model.forward).parameters.values()]
    names, defaults = [], []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = len(arguments) - len(names)
            names += [f"{parameter.name}[{index}]" for index in range(max(rest, 0))]
        elif parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
            if parameter.default is not inspect.Parameter.empty:
                defaults.append((parameter.name, parameter.default))
        elif len(names) < len(arguments):
            names.append(parameter.name)
        elif parameter.default is not inspect.Parameter.empty:
            defaults.append((parameter.name, parameter.default))
        else:
            raise OracleError("inputs", f"{problem_file.display_name}: get_inputs() returns {len(arguments)} values, "
                                        f"but forward() also needs {parameter.name!r}; add it to get_inputs()")
    if len(names) < len(arguments):
        raise OracleError("inputs", f"{problem_file.display_name}: get_inputs() returns {len(arguments)} values, but "
                                    f"forward() takes {len(names)}; return one for each argument of forward()")
    names = ["input." + name if name.startswith("output") else name for name in names]
    return names, defaults


def split_arguments(names, arguments):
    """The tensors as (name, tensor), and everything else as (name, value)."""
    tensors, others = [], []
    for name, argument in zip(names, arguments):
        for leaf_name, leaf in flatten(name, argument):
            (tensors if isinstance(leaf, torch.Tensor) else others).append((leaf_name, leaf))
    return tensors, others


def json_value(value):
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return json.dumps(repr(value)[:200])


def module_tensors(model):
    """(name, role, tensor) of all parameters, then buffers, then other tensor attributes, ties included."""
    parameters, buffers, attributes = [], [], []
    own = {id(parameter) for parameter in model.parameters()}
    for path, module in model.named_modules(remove_duplicate=False):
        prefix = path + "." if path else ""
        for name, tensor in module._parameters.items():
            if tensor is not None:
                parameters.append((prefix + name, PARAMETER, tensor))
        for name, tensor in module._buffers.items():
            if tensor is not None:
                buffers.append((prefix + name, BUFFER, tensor))
        for name, value in module.__dict__.items():
            if name in _MODULE_INTERNALS or name.startswith("__"):
                continue
            for leaf_name, leaf in flatten(f"attr:{prefix}{name}", value):
                # A list of a module's own parameters (LSTM's flat weights) gives them no second name.
                if isinstance(leaf, torch.Tensor) and id(leaf) not in own:
                    attributes.append((leaf_name, ATTRIBUTE, leaf))
    return parameters + buffers + attributes


def flatten_outputs(value):
    """Tensors of what forward() returned: one as "output", those of a list or tuple as "output0", "output1", ...

    None and numbers are left out.
    """
    if isinstance(value, torch.Tensor):
        return [("output", value)]
    leaves = [leaf for _, leaf in flatten("", value) if isinstance(leaf, torch.Tensor)]
    return [(f"output{index}", leaf) for index, leaf in enumerate(leaves)]


def span_elements(shape, strides):
    """Elements from the first to one past the last that the strides reach."""
    if any(size == 0 for size in shape):
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def span(tensor):
    """The stretch of storage that a tensor reaches, gaps included, as one dense dimension. No copy."""
    return torch.as_strided(tensor.detach(), (span_elements(tensor.shape, tensor.stride()),), (1,),
                            tensor.storage_offset())


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return list(reversed(strides))


def spec(name, role, tensor, problem_file):
    """A v1.TensorSpec."""
    if tensor.layout is not torch.strided or dtype_name(tensor.dtype) not in _DTYPES:
        kind = "no_tensor" if role == OUTPUT else "inputs"
        raise OracleError(kind, f"{problem_file.display_name}: tensor {name!r} is {tensor.layout} {tensor.dtype}; use "
                                "dense tensors of real, integer or boolean elements")
    shape = list(tensor.shape)
    strides = contiguous_strides(shape) if role == OUTPUT else list(tensor.stride())
    return {"name": name, "dtype": dtype_name(tensor.dtype), "shape": shape, "strides": strides, "role": role,
            "storage_bytes": span_elements(shape, strides) * tensor.element_size()}


def mark_aliases(entries, specs):
    """Sets alias_of where a tensor is the same view of the same memory as an earlier one."""
    seen = {}
    for (name, _, tensor), tensor_spec in zip(entries, specs):
        if tensor.numel() == 0:
            continue
        key = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()))
        if key in seen:
            tensor_spec["alias_of"] = seen[key]
        else:
            seen[key] = name


def same_bits(left, right):
    """Equal shape and equal bytes: NaN equals itself, 0 does not equal -0."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return torch.equal(as_bits(left), as_bits(right))


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def as_bits(tensor):
    """The elements' bytes as integers of the same width."""
    return tensor.detach().contiguous().view(_BITS[tensor.element_size()])
