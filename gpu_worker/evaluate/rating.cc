#include "gpu_worker/evaluate/rating.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/evaluate/flags.h"

namespace warpsmith::evaluate {
namespace {

// Whether every number that goes in has sixteen bits: then tensor cores multiply them exactly, whatever the class.
bool HasHalfInputsOnly(const v1::ProblemSignature& signature) {
  bool any = false;
  for (const v1::TensorSpec& tensor : signature.tensors()) {
    if (tensor.role() == v1::TENSOR_ROLE_OUTPUT) continue;
    if (tensor.dtype() != "float16" && tensor.dtype() != "bfloat16") return false;
    any = true;
  }
  return any;
}

}  // namespace

void RateAgainstBaselines(const v1::Problem& problem, bool emulated, v1::Evaluation& evaluation) {
  if (evaluation.outcome() != v1::OUTCOME_OK || evaluation.timing().median_ms() <= 0) return;
  double median = evaluation.timing().median_ms();
  double best = 0;
  for (const v1::Baseline& baseline : problem.baselines()) {
    if (baseline.emulated() != emulated || baseline.median_ms() <= 0) continue;
    if (baseline.name() == "eager") evaluation.set_ratio_to_eager(baseline.median_ms() / median);
    bool as_strict = baseline.precision_class() != v1::PRECISION_CLASS_UNSPECIFIED &&
                     baseline.precision_class() <= std::max(evaluation.reached(), v1::PRECISION_CLASS_FP32);
    if (as_strict && (best == 0 || baseline.median_ms() < best)) {
      best = baseline.median_ms();
      evaluation.set_best_baseline(baseline.name());
      evaluation.set_ratio_to_best_baseline(best / median);
    }
  }
}

int64_t NecessaryBytes(const v1::ProblemSignature& signature) {
  if (!signature.degenerate()) return signature.algorithm_bytes();
  int64_t bytes = 0;
  for (const v1::TensorSpec& tensor : signature.tensors()) {
    if (tensor.role() == v1::TENSOR_ROLE_OUTPUT) bytes += tensor.storage_bytes();
  }
  return bytes;
}

bool RateAgainstRoofline(const v1::ProblemSignature& signature, const measure::DevicePeaks& peaks, double median_ms,
                         v1::Evaluation& evaluation) {
  if (!(median_ms > 0)) return true;
  double memory = measure::MemoryFloorMs(peaks, NecessaryBytes(signature));
  const bool half = evaluation.reached() > v1::PRECISION_CLASS_FP32 || HasHalfInputsOnly(signature);
  double operations = half ? peaks.half_operations : peaks.fp32_operations;
  double compute = measure::ComputeFloorMs(operations, signature.algorithm_flops());
  if (memory > 0 || compute > 0) {
    v1::Roofline& roofline = *evaluation.mutable_roofline();
    roofline.set_memory_floor_ms(memory);
    roofline.set_compute_floor_ms(compute);
    roofline.set_share(std::max(memory, compute) / median_ms);
    roofline.set_bound(memory >= compute ? "memory" : "compute");
    roofline.set_bytes_per_second(static_cast<double>(signature.algorithm_bytes()) / median_ms * 1e3);
    roofline.set_operations_per_second(signature.algorithm_flops() / median_ms * 1e3);
  }
  if (median_ms < compute) AddFlag(evaluation, "below_compute_floor");
  if (median_ms >= memory) return true;
  evaluation.set_outcome(v1::OUTCOME_SUSPICIOUS);
  evaluation.set_reason("roofline");
  evaluation.set_message(
      fmt::format("{:.4f} ms, but the memory of this device needs {:.4f} ms for the {} bytes that the inputs and "
                  "outputs have; such a time is not believed",
                  median_ms, memory, NecessaryBytes(signature)));
  evaluation.set_failed_stage("timed_launch");
  return false;
}

}  // namespace warpsmith::evaluate
