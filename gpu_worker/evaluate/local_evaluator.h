// An Evaluator with all its parts for one device of this machine: compiler child and cache, executor processes, the
// PyTorch oracle, and on a GPU its lock, clocks, canary and profiler. What the worker and `warpsmith evaluate` share.
// Threading: as Evaluator. Errors: what is missing on this machine, with the remedy.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_LOCAL_EVALUATOR_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_LOCAL_EVALUATOR_H_

#include <filesystem>
#include <memory>
#include <string>

#include "common/status.h"
#include "gpu_worker/evaluate/evaluator.h"

namespace warpsmith::evaluate {

struct LocalEvaluatorOptions {
  std::string worker_id = "local";
  // auto (the first GPU where one can be used, else the emulated device), emulated, cuda:N by PCI order, or a GPU's
  // UUID.
  std::string device = "auto";
  std::filesystem::path cache_folder;  // compiled artifacts, baselines
  bool use_toolkit = true;             // false: as if there were no NVRTC
  double run_limit_seconds = 20;       // one run of a plan, at most
  double measure_seconds = 0;  // of one measurement; 0: 0.4 on the emulated device, which is not worth more, 0.12 on a
                               // GPU
  EvaluationObserver* observer = &EvaluationObserver::None();  // outlives the evaluator
};

class LocalEvaluator {
 public:
  static absl::StatusOr<std::unique_ptr<LocalEvaluator>> Create(const LocalEvaluatorOptions& options);
  ~LocalEvaluator();

  Evaluator& evaluator();
  const v1::DeviceDescription& device() const;
  // Among the GPUs of this machine that the process sees; 0 for the emulated device.
  int device_number() const;

 private:
  struct Parts;
  explicit LocalEvaluator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_LOCAL_EVALUATOR_H_
