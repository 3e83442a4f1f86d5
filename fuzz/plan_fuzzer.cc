// Launch plans: parsed or refused, and what is parsed is checked or refused, within bounds of time and memory.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "gpu_worker/plan/candidate.h"
#include "gpu_worker/plan/plan_parser.h"

namespace {

warpsmith::v1::ProblemSignature Signature() {
  warpsmith::v1::ProblemSignature signature;
  for (const char* name : {"x", "weight", "output"}) {
    warpsmith::v1::TensorSpec* tensor = signature.add_tensors();
    tensor->set_name(name);
    tensor->set_dtype("float32");
    for (int64_t side : {4, 8}) tensor->add_shape(side);
    for (int64_t stride : {8, 1}) tensor->add_strides(stride);
    tensor->set_storage_bytes(128);
    tensor->set_role(name[0] == 'o'   ? warpsmith::v1::TENSOR_ROLE_OUTPUT
                     : name[0] == 'w' ? warpsmith::v1::TENSOR_ROLE_PARAMETER
                                      : warpsmith::v1::TENSOR_ROLE_INPUT);
  }
  return signature;
}

void Check(const warpsmith::plan::Plan& plan) {
  namespace wp = warpsmith::plan;
  static const warpsmith::v1::ProblemSignature signature = Signature();
  wp::ExpandOptions options;
  options.frozen_weights = true;
  options.max_launches = 500;
  options.max_arguments = 5000;
  options.max_evaluations = 20000;
  wp::KernelNames(plan);
  wp::NeedsGpuFeature(plan);
  wp::CompileArchitecture(plan, 90);
  for (const wp::TuneAssignment& tune : wp::TuneVariants(plan, 4)) {
    wp::CompilerOptions(plan, tune);
    (void)wp::CheckPlan(plan, signature, wp::DeviceLimits::ForArchitecture(90), tune, options).ok();
    (void)wp::CheckPlan(plan, signature, wp::DeviceLimits::Emulated(plan.min_arch), tune, options).ok();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = warpsmith::plan::ParsePlan(text);
  if (plan.ok()) Check(*plan);
  const auto file = warpsmith::plan::ParseCandidate(text);
  if (file.ok()) Check(file->plan);
  const auto wrapped = warpsmith::plan::ParseCandidate("/* warpsmith-plan\n" + std::string(text) + "\n*/\n");
  if (wrapped.ok()) FUZZ_CHECK(plan.ok());
  return 0;
}
