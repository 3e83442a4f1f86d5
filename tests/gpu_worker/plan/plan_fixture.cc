#include "tests/gpu_worker/plan/plan_fixture.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/plan_parser.h"

namespace warpsmith::plan {
namespace {

void AddTensor(v1::ProblemSignature* signature, const std::string& name, const std::string& dtype,
               const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t storage_bytes,
               v1::TensorRole role) {
  v1::TensorSpec* tensor = signature->add_tensors();
  tensor->set_name(name);
  tensor->set_dtype(dtype);
  for (int64_t side : shape) tensor->add_shape(side);
  for (int64_t stride : strides) tensor->add_strides(stride);
  tensor->set_storage_bytes(storage_bytes);
  tensor->set_role(role);
}

KernelInterface Kernel(const std::string& name, const std::vector<KernelParameter>& parameters) {
  KernelInterface kernel;
  kernel.plan_name = name;
  kernel.symbol = "_Z" + name;
  kernel.parameters = parameters;
  return kernel;
}

}  // namespace

void CheckRejected(const absl::Status& status, const Rejection& rejection) {
  INFO("refused text: " << rejection.text);
  REQUIRE_FALSE(status.ok());
  INFO("message: " << Message(status));
  CHECK(PlanErrorReason(status) == rejection.reason);
  CHECK(Message(status).find(rejection.message) != std::string::npos);
  // Messages go into a repair prompt and a log line: one line of moderate length.
  CHECK(Message(status).find('\n') == std::string::npos);
  CHECK(Message(status).size() < 2048);
}

std::string PlanOf(std::string_view steps, std::string_view extra) {
  return R"({"version": 1, "steps": [)" + std::string(steps) + "]" + std::string(extra) + "}";
}

std::string Launch(std::string_view kernel, std::string_view args) {
  return std::string(kBoth) + R"(, {"kernel": ")" + std::string(kernel) +
         R"(", "grid": [1], "block": [32], "args": [)" + std::string(args) + "]}";
}

const DeviceLimits& TestDevice() {
  static const DeviceLimits limits = DeviceLimits::ForArchitecture(90);
  return limits;
}

v1::ProblemSignature Problem() {
  v1::ProblemSignature signature;
  AddTensor(&signature, "x", "float32", {64, 1024}, {1024, 1}, 262144, v1::TENSOR_ROLE_INPUT);
  AddTensor(&signature, "h", "float16", {64, 1024}, {1024, 1}, 131072, v1::TENSOR_ROLE_INPUT);
  AddTensor(&signature, "t", "float32", {32, 16}, {1, 32}, 2048, v1::TENSOR_ROLE_INPUT);
  AddTensor(&signature, "gap", "float32", {4, 4}, {8, 1}, 112, v1::TENSOR_ROLE_INPUT);
  AddTensor(&signature, "none", "float32", {0, 4}, {4, 1}, 0, v1::TENSOR_ROLE_INPUT);
  AddTensor(&signature, "w", "float32", {1024}, {1}, 4096, v1::TENSOR_ROLE_PARAMETER);
  AddTensor(&signature, "tied", "float32", {1024}, {1}, 4096, v1::TENSOR_ROLE_PARAMETER);
  signature.mutable_tensors(6)->set_alias_of("w");
  AddTensor(&signature, "running", "float32", {8}, {1}, 32, v1::TENSOR_ROLE_BUFFER);
  signature.mutable_tensors(7)->set_mutated(true);
  AddTensor(&signature, "output0", "float32", {64, 1024}, {1024, 1}, 262144, v1::TENSOR_ROLE_OUTPUT);
  AddTensor(&signature, "output1", "int64", {64}, {1}, 512, v1::TENSOR_ROLE_OUTPUT);
  return signature;
}

std::vector<KernelInterface> Kernels() {
  const KernelParameter pointer{ParameterKind::kPointer, 8, 0}, word{ParameterKind::kInteger, 4, 8},
      number{ParameterKind::kFloat, 4, 12};
  std::vector<KernelInterface> kernels = {
      Kernel("both", {pointer, pointer, pointer}),
      Kernel("f<128,4>", {pointer}),
      Kernel("g", {pointer, word, number}),
      Kernel("half", {{ParameterKind::kStruct, 2, 0}}),
      Kernel("mapped", {{ParameterKind::kStruct, 128, 0}}),
      Kernel("wide", {{ParameterKind::kInteger, 8, 0}}),
      Kernel("byte", {{ParameterKind::kInteger, 1, 0}}),
      Kernel("double", {{ParameterKind::kFloat, 8, 0}}),
      Kernel("unknown", {{ParameterKind::kUnknown, 8, 0}}),
      Kernel("tight", {}),
      Kernel("spill", {}),
  };
  kernels[9].max_threads_per_block = 256;
  kernels[9].static_shared_bytes = 1024;
  kernels[9].registers = 128;
  kernels[10].local_bytes = 4096;
  return kernels;
}

absl::StatusOr<v1::ExecutionPlan> ExpandText(std::string_view json, const DeviceLimits& limits,
                                             const ExpandOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(Plan plan, ParsePlan(json));
  return Expand(plan, Problem(), Kernels(), limits, TuneVariants(plan, 1).front(), options);
}

}  // namespace warpsmith::plan
