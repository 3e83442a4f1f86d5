#include "cli/transfer/python_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/text.h"
#include "cli/transfer/python_steps.h"
#include "cli/transfer/python_text.h"
#include "common/json.h"

namespace warpsmith::transfer {
namespace {

std::string Tuple(const std::vector<int64_t>& values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
  return text + (values.size() == 1 ? ",)" : ")");
}

// name: (type, shape, strides), a line each.
std::string Table(const std::string& name, const std::vector<const plan::Tensor*>& tensors) {
  std::string text = fmt::format("    {} = {{", name);
  for (const plan::Tensor* tensor : tensors) {
    text += fmt::format("\n        {}: ({}, {}, {}),", PythonString(tensor->name), PythonString(tensor->dtype),
                        Tuple(tensor->shape), Tuple(tensor->strides));
  }
  return text + (tensors.empty() ? "}\n" : "\n    }\n");
}

std::string List(const std::vector<std::string>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + PythonString(values[i]);
  return text + "]";
}

// JSON's null, true and false have other names in Python.
std::string PythonValue(const Json& json) {
  if (json.is_null()) return "None";
  if (json.is_boolean()) return json.get<bool>() ? "True" : "False";
  if (json.is_string()) return PythonString(json.get<std::string>());
  if (json.is_array()) {
    std::string text = "[";
    for (const Json& entry : json) text += PythonValue(entry) + ", ";
    return text + "]";
  }
  if (json.is_object()) {
    std::string text = "{";
    for (const auto& [key, value] : json.items()) text += PythonString(key) + ": " + PythonValue(value) + ", ";
    return text + "}";
  }
  return json.dump();
}

std::string FrozenTable(const v1::ProblemSignature& signature) {
  std::string text = "    frozen = {";
  for (const v1::FrozenArgument& argument : signature.frozen_arguments()) {
    // Python writes NaN and Infinity, which is no JSON: such a value is not compared with.
    const Json value = Json::parse(argument.json_value(), nullptr, false);
    if (value.is_discarded()) continue;
    text += fmt::format("{}: {}, ", PythonString(argument.name()), PythonValue(value));
  }
  return text + "}\n";
}

// The standard that NVRTC is asked for where the plan does not say, as the worker does it.
std::vector<std::string> Options(const KernelSource& kernel) {
  std::vector<std::string> options = kernel.options;
  const bool told = std::any_of(options.begin(), options.end(), [](const auto& o) { return o.starts_with("--std="); });
  if (!told) options.push_back("--std=c++17");
  return options;
}

}  // namespace

absl::StatusOr<std::string> PythonPlan(const KernelSource& kernel) {
  const plan::Plan& plan = kernel.candidate.plan;
  std::vector<std::string> used = TensorsOf(plan.steps);
  for (const std::string& name : TensorsOf(plan.prepare)) {
    if (std::find(used.begin(), used.end(), name) == used.end()) used.push_back(name);
  }
  std::vector<const plan::Tensor*> inputs, module, outputs, scratch, persistent;
  std::vector<std::string> updated;
  for (const plan::Tensor& tensor : kernel.tensors) {
    const v1::TensorSpec* spec = kernel.FindSpec(tensor.name);
    const bool is_used = std::find(used.begin(), used.end(), tensor.name) != used.end();
    if (spec == nullptr) {
      (tensor.persistent ? persistent : scratch).push_back(&tensor);
    } else if (spec->role() == v1::TENSOR_ROLE_OUTPUT) {
      outputs.push_back(&tensor);
    } else if (spec->role() == v1::TENSOR_ROLE_INPUT) {
      inputs.push_back(&tensor);
    } else if (is_used) {
      module.push_back(&tensor);
    }
    if (tensor.kind == v1::BUFFER_KIND_UPDATED && is_used) updated.push_back(tensor.name);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const std::string steps, PythonSteps(kernel, plan.steps, "steps"));
  WARPSMITH_ASSIGN_OR_RETURN(const std::string prepare, PythonSteps(kernel, plan.prepare, "prepare"));
  const plan::Architecture least = plan.min_arch.value_or(plan::Architecture{});
  std::string text = "class _WarpsmithPlan:\n    \"\"\"" + std::string(
                                                               "The kernels and how they are launched: tensors "
                                                               "as (type, shape, strides).\"\"\"\n\n");
  text += "    source = " + PythonBlock(kernel.candidate.code) + "\n";
  text += "    kernels = " + List(plan::KernelNames(plan)) + "\n";
  text += "    options = " + List(Options(kernel)) + "\n";
  text += fmt::format("    minimum_capability = {}\n", least.number);
  text += fmt::format("    architecture_suffix = {}\n",
                      PythonString(least.suffix == 0 ? std::string() : std::string(1, least.suffix)));
  text += Table("inputs", inputs) + Table("module", module) + Table("outputs", outputs) + Table("scratch", scratch) +
          Table("persistent", persistent);
  text += "    updated = " + List(updated) + "\n";
  text += FrozenTable(kernel.signature);
  text += fmt::format("    single = {}\n", outputs.size() == 1 && outputs[0]->name == "output" ? "True" : "False");
  text += R"(    tensors = {**inputs, **module, **outputs, **scratch, **persistent}
    widths = {"bool": 1, "uint8": 1, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "int16": 2, "uint16": 2,
              "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
              "complex64": 8, "complex128": 16}

    @classmethod
    def element_bytes(cls, name):
        return cls.widths[cls.tensors[name][0]]

    @classmethod
    def bytes(cls, name):
        """From the first element to one past the last."""
        _, shape, strides = cls.tensors[name]
        last = sum((size - 1) * stride for size, stride in zip(shape, strides))
        return (0 if 0 in shape else last + 1) * cls.element_bytes(name)

    @staticmethod
    def steps(run):
)";
  text += steps + "\n    @staticmethod\n    def prepare(run):\n" + prepare;
  return text;
}

}  // namespace warpsmith::transfer
