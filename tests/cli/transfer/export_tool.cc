// For exports_test.py: writes what an export would write of a candidate, and the worker's own expansion of its plan.
//   export_tool FOLDER < a JSON list of {"name", "signature", "reference", "candidate": FILE, "tune": {...}}
// writes FOLDER/NAME_model.py, NAME_operator.py, NAME.cu (or NAME.cu.error) and NAME.plan.json (an ExecutionPlan for a
// GPU of compute capability 9.0 with 132 multiprocessors, whose kernels' symbols are their names in the plan).
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <iostream>
#include <iterator>
#include <map>

#include "cli/transfer/cuda_program.h"
#include "cli/transfer/kernel_source.h"
#include "cli/transfer/python_module.h"
#include "common/file.h"
#include "common/json.h"
#include "gpu_worker/plan/literal.h"

namespace warpsmith {
namespace {

int32_t SizeOf(const plan::Argument& argument) {
  if (std::holds_alternative<plan::View>(argument)) return 8;
  if (std::holds_alternative<plan::TensorMapArgument>(argument)) return 128;
  return static_cast<int32_t>(plan::LiteralBytes(std::get<plan::Literal>(argument).type));
}

// Interfaces as a compiler would tell them, from the steps' own arguments.
void Describe(const std::vector<plan::Step>& steps, std::map<std::string, plan::KernelInterface>* kernels) {
  for (const plan::Step& step : steps) {
    if (const auto* repeat = std::get_if<plan::RepeatStep>(&step.value)) Describe(repeat->steps, kernels);
    const auto* kernel = std::get_if<plan::KernelStep>(&step.value);
    if (kernel == nullptr) continue;
    plan::KernelInterface interface;
    interface.plan_name = interface.symbol = kernel->kernel;
    int32_t offset = 0;
    for (const plan::Argument& argument : kernel->args) {
      interface.parameters.push_back({plan::ParameterKind::kUnknown, SizeOf(argument), offset});
      offset += SizeOf(argument);
    }
    kernels->emplace(kernel->kernel, interface);
  }
}

absl::Status WriteAll(const Json& entry, const std::filesystem::path& folder) {
  const std::string name = entry["name"].get<std::string>();
  v1::ExportedProblem problem;
  problem.mutable_problem()->set_name(name);
  problem.mutable_problem()->set_source(entry["reference"].get<std::string>());
  if (!google::protobuf::util::JsonStringToMessage(entry["signature"].dump(),
                                                   problem.mutable_problem()->mutable_signature())
           .ok()) {
    return InvalidArgument("the signature is no ProblemSignature");
  }
  WARPSMITH_ASSIGN_OR_RETURN(*problem.mutable_kernel()->mutable_source(),
                             ReadFile(entry["candidate"].get<std::string>()));
  problem.mutable_kernel()->set_median_ms(1.5);
  problem.mutable_kernel()->set_title("an idea");
  problem.mutable_device()->set_name("a GPU");
  problem.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  if (entry.contains("tune")) {
    for (const auto& [key, value] : entry["tune"].items()) {
      (*problem.mutable_evaluation()->mutable_tune())[key] = value.get<int64_t>();
    }
  }
  WARPSMITH_ASSIGN_OR_RETURN(const transfer::KernelSource kernel, transfer::ReadKernelSource(problem));
  WARPSMITH_ASSIGN_OR_RETURN(const auto modules, transfer::PythonModules::LoadShipped());
  WARPSMITH_ASSIGN_OR_RETURN(const std::string model, modules.ModelNew(kernel));
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(folder / (name + "_model.py"), model));
  WARPSMITH_ASSIGN_OR_RETURN(const std::string module, modules.Operator(kernel, "warpsmith_test_" + name));
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(folder / (name + "_operator.py"), module));
  WARPSMITH_ASSIGN_OR_RETURN(const auto programs, transfer::CudaPrograms::LoadShipped());
  const auto program = programs.Program(kernel, name + ".cu");
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(folder / (name + (program.ok() ? ".cu" : ".cu.error")),
                                                program.ok() ? *program : Message(program.status())));
  std::map<std::string, plan::KernelInterface> described;
  Describe(kernel.candidate.plan.prepare, &described);
  Describe(kernel.candidate.plan.steps, &described);
  std::vector<plan::KernelInterface> kernels;
  for (const auto& [plan_name, interface] : described) kernels.push_back(interface);
  plan::DeviceLimits limits = plan::DeviceLimits::ForArchitecture(90);
  limits.sm_count = 132;
  plan::ExpandOptions options;
  options.frozen_weights = true;
  WARPSMITH_ASSIGN_OR_RETURN(const v1::ExecutionPlan expanded, plan::Expand(kernel.candidate.plan, kernel.signature,
                                                                            kernels, limits, kernel.tune, options));
  std::string json;
  google::protobuf::util::JsonPrintOptions print;
  print.preserve_proto_field_names = true;
  print.always_print_primitive_fields = true;
  if (!google::protobuf::util::MessageToJsonString(expanded, &json, print).ok()) return Internal("no JSON");
  return WriteFileAtomically(folder / (name + ".plan.json"), json);
}

int Main(const std::string& folder) {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  auto entries = ParseStrictJson(text, {32, 64u << 20});
  if (!entries.ok()) {
    std::cerr << Message(entries.status()) << "\n";
    return 2;
  }
  int failed = 0;
  for (const Json& entry : *entries) {
    const absl::Status status = WriteAll(entry, folder);
    if (status.ok()) continue;
    std::cerr << entry["name"] << ": " << Message(status) << "\n";
    failed = 1;
  }
  return failed;
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) { return argc == 2 ? warpsmith::Main(argv[1]) : 2; }
