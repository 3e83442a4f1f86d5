#include "cli/transfer/python_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/transfer/python_plan.h"
#include "cli/transfer/python_text.h"
#include "common/file.h"

namespace warpsmith::transfer {
namespace {

constexpr char kImports[] = R"(import ctypes
import functools
import glob
import inspect
import math
import os
import re
import struct
import types

import torch
from torch.utils import cpp_extension

)";

constexpr char kNoLibrary[] = R"(class _WarpsmithLibrary:
    """The plan has no library steps."""
    library_names = {}
)";

constexpr char kModelNew[] = R"(

class ModelNew(_warpsmith_reference().Model):
    """The problem's module with its parameters; forward() runs the kernels above, without gradients."""

    def forward(self, *args, **kwargs):
        given = _warpsmith_arguments(_WARPSMITH_SIGNATURE, args, kwargs)
        given.update((name, _warpsmith_module_tensor(self, name)) for name in _WarpsmithPlan.module)
        outputs = _warpsmith_call(given, self.__dict__.setdefault("_warpsmith_kept", {}))
        return outputs[0] if _WarpsmithPlan.single else tuple(outputs)


_WARPSMITH_SIGNATURE = inspect.signature(ModelNew.__mro__[1].forward)
)";

constexpr char kOperator[] = R"(

def _warpsmith_cuda(*tensors):
    given = dict(zip([*_WarpsmithPlan.inputs, *_WarpsmithPlan.module], tensors))
    outputs = _warpsmith_call(given, _WARPSMITH_KEPT)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _warpsmith_meta(*tensors):
    outputs = [tensors[0].new_empty(shape, dtype=getattr(torch, dtype))
               for dtype, shape, _ in _WarpsmithPlan.outputs.values()]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


_WARPSMITH_KEPT = {}
_WARPSMITH_LIBRARY = torch.library.Library(_WARPSMITH_NAMESPACE, "DEF")
_WARPSMITH_LIBRARY.define(_WARPSMITH_SCHEMA)
_WARPSMITH_LIBRARY.impl("forward", _warpsmith_cuda, "CUDA")
_WARPSMITH_LIBRARY.impl("forward", _warpsmith_meta, "Meta")
run = getattr(torch.ops, _WARPSMITH_NAMESPACE).forward


def _warpsmith_steps_to(name):
    return [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", name.replace("attr:", ""))]


class Module(_warpsmith_reference().Model):
    """The problem's module with its parameters; forward() calls the operator, so torch.compile keeps it whole."""

    def forward(self, *args, **kwargs):
        if kwargs or len(args) != len(_WARPSMITH_NAMES):
            tensors = list(_warpsmith_arguments(_WARPSMITH_SIGNATURE, args, kwargs).values())
        else:
            tensors = [_warpsmith_follow(args, steps) for steps in _WARPSMITH_INPUT_STEPS]
        outputs = run(*tensors, *[_warpsmith_follow(self, steps) for steps in _WARPSMITH_MODULE_STEPS])
        return outputs if _WarpsmithPlan.single or len(_WarpsmithPlan.outputs) > 1 else (outputs,)


def _warpsmith_follow(value, steps):
    for step in steps:
        if isinstance(value, torch.nn.Module):
            value = getattr(value, str(step))
        else:
            value = value[step]
    return value


_WARPSMITH_SIGNATURE = inspect.signature(Module.__mro__[1].forward)
_WARPSMITH_NAMES = list(_WARPSMITH_SIGNATURE.parameters)[1:]
# Where each tensor is among the arguments, and in the module.
_WARPSMITH_INPUT_STEPS = [[_WARPSMITH_NAMES.index(first), *rest] for first, *rest in
                          ([str(step[0]), *step[1:]] for step in
                           (_warpsmith_steps_to(name[6:] if name.startswith("input.") else name)
                            for name in _WarpsmithPlan.inputs)) if first in _WARPSMITH_NAMES]
_WARPSMITH_MODULE_STEPS = [_warpsmith_steps_to(name) for name in _WarpsmithPlan.module]
)";

// An operator's schema: its tensors by name, those that the kernel changes marked.
std::string Schema(const KernelSource& kernel) {
  std::vector<std::string> used = TensorsOf(kernel.candidate.plan.steps);
  for (const std::string& name : TensorsOf(kernel.candidate.plan.prepare)) used.push_back(name);
  std::vector<std::string> arguments[2];  // inputs, then the module's
  std::set<std::string> names;
  size_t outputs = 0, changed = 0;
  for (const v1::TensorSpec& spec : kernel.signature.tensors()) {
    if (spec.role() == v1::TENSOR_ROLE_OUTPUT) {
      ++outputs;
      continue;
    }
    const bool input = spec.role() == v1::TENSOR_ROLE_INPUT;
    const bool is_used = std::find(used.begin(), used.end(), spec.name()) != used.end();
    if (!input && !is_used) continue;
    std::string name = Identifier(spec.name());
    while (!names.insert(name).second) name += "_";
    const bool updated = is_used && kernel.Find(spec.name())->kind == v1::BUFFER_KIND_UPDATED;
    std::string type = "Tensor";
    if (updated) type = fmt::format("Tensor({}!)", std::string(1, static_cast<char>('a' + changed++ % 26)));
    arguments[input ? 0 : 1].push_back(type + " " + name);
  }
  arguments[0].insert(arguments[0].end(), arguments[1].begin(), arguments[1].end());
  std::string results = "Tensor";
  for (size_t i = 1; i < outputs; ++i) results += ", Tensor";
  return fmt::format("forward({}) -> {}", fmt::join(arguments[0], ", "), outputs > 1 ? "(" + results + ")" : results);
}

}  // namespace

absl::StatusOr<PythonModules> PythonModules::LoadShipped() {
  PythonModules modules;
  WARPSMITH_ASSIGN_OR_RETURN(const auto folder, FindShare("cli/transfer/python"));
  WARPSMITH_ASSIGN_OR_RETURN(modules.launcher_, ReadFile(folder / "launcher.py"));
  WARPSMITH_ASSIGN_OR_RETURN(modules.library_steps_, ReadFile(folder / "library_steps.py"));
  return modules;
}

absl::StatusOr<std::string> PythonModules::Beginning(const KernelSource& kernel, const std::string& what) const {
  bool any_tensor = false;
  for (const v1::TensorSpec& spec : kernel.signature.tensors()) any_tensor |= spec.role() != v1::TENSOR_ROLE_OUTPUT;
  if (!any_tensor) return InvalidArgument("its module takes no tensor and has none: there is nothing to call it with");
  WARPSMITH_ASSIGN_OR_RETURN(const std::string plan, PythonPlan(kernel));
  std::string text = fmt::format("# {}\n# {}\n", kernel.origin, what);
  text +=
      kImports + std::string("\n") + plan + "\n\n_WARPSMITH_REFERENCE = " + PythonBlock(kernel.reference) + "\n\n\n";
  text += plan::UsesLibrary(kernel.candidate.plan) ? library_steps_ : std::string(kNoLibrary);
  return text + "\n\n" + launcher_;
}

absl::StatusOr<std::string> PythonModules::ModelNew(const KernelSource& kernel) const {
  WARPSMITH_ASSIGN_OR_RETURN(
      std::string text,
      Beginning(kernel, "Written by warpsmith. Needs PyTorch with CUDA, and CUDA's headers with NVRTC."));
  return text + kModelNew;
}

absl::StatusOr<std::string> PythonModules::Operator(const KernelSource& kernel, const std::string& name_space) const {
  WARPSMITH_ASSIGN_OR_RETURN(
      std::string text,
      Beginning(kernel,
                "Written by warpsmith: `run`, a PyTorch operator, and `Module`. No gradients. Needs PyTorch with "
                "CUDA, and CUDA's headers with NVRTC."));
  text += fmt::format("\n\n_WARPSMITH_NAMESPACE = {}\n_WARPSMITH_SCHEMA = {}\n", PythonString(name_space),
                      PythonString(Schema(kernel)));
  return text + kOperator;
}

}  // namespace warpsmith::transfer
