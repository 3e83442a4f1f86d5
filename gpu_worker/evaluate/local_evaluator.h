// An Evaluator with all its parts for this machine's device: compiler child and cache, executor processes, the PyTorch
// oracle. What the worker and `warpsmith evaluate` share.
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
  std::string device = "auto";         // auto, emulated
  std::filesystem::path cache_folder;  // compiled artifacts
  bool use_toolkit = true;             // false: as if there were no NVRTC
  double run_limit_seconds = 20;       // one run of a plan
  double measure_seconds = 0.4;        // of one measurement; the emulated device is not worth more
};

class LocalEvaluator {
 public:
  static absl::StatusOr<std::unique_ptr<LocalEvaluator>> Create(const LocalEvaluatorOptions& options);
  ~LocalEvaluator();

  Evaluator& evaluator();
  const v1::DeviceDescription& device() const;

 private:
  struct Parts;
  explicit LocalEvaluator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_LOCAL_EVALUATOR_H_
