// One problem, ready for host code: the oracle's buffers, and the problem's own module in a process like a candidate's,
// by which candidates are timed. The process holds the problem's file, never an answer.
// Threading: one thread at a time. Units: seconds.
// Errors: InvalidArgument for a problem that cannot be judged so, with what to change; else the machine's fault.
#ifndef WARPSMITH_GPU_WORKER_HOST_CODE_BENCH_H_
#define WARPSMITH_GPU_WORKER_HOST_CODE_BENCH_H_

#include <memory>
#include <vector>

#include "common/file.h"
#include "gpu_worker/host_code/host_code_process.h"
#include "gpu_worker/host_code/tensor_layout.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::host_code {

struct BenchOptions {
  HostCodeProcessOptions process;  // of the reference; candidates' are alike
  std::filesystem::path shared_memory = "/dev/shm";
  int most_slots = 16;  // inputs of one timed batch, all different
  int64_t slot_memory_bytes = int64_t{1} << 30;
  double batch_seconds = 0.05;      // that a batch is to last by the reference's time
  double run_limit_seconds = 20;    // of one forward()
  double load_limit_seconds = 240;  // of importing a file, compiling its extensions among it, and of a first call
};

class Bench {
 public:
  // Has the oracle load the problem. `process` is the reference's, launched and not yet greeted.
  static absl::StatusOr<std::unique_ptr<Bench>> Create(const v1::Problem& problem, const v1::IntakeSettings& settings,
                                                       reference::Oracle& oracle, const BenchOptions& options,
                                                       std::unique_ptr<HostCodeProcess> process,
                                                       TemporaryDirectory buffers);

  int slots() const { return static_cast<int>(slots_.size()); }
  Json BuffersRequest() const { return {{"tensors", layout_.tensors}, {"slots", PlacesToJson(slots_)}}; }
  const Json& form() const { return loaded_["form"]; }
  const Json& constructor() const { return loaded_["constructor"]; }
  const Json& constants() const { return loaded_["constants"]; }

  double request_seconds() const { return request_seconds_; }  // of a request for no call at all
  double call_seconds() const { return call_seconds_; }        // of the reference, about
  double run_limit_seconds() const { return options_.run_limit_seconds; }
  double load_limit_seconds() const { return options_.load_limit_seconds; }
  v1::PrecisionClass reached() const { return reached_; }  // by the reference, with PyTorch's defaults

  bool on_gpu() const { return options_.process.device != "cpu"; }

  // Seconds a call of the reference over all slots, on inputs of `seed` and the following.
  absl::StatusOr<double> TimeReference(int64_t seed);

 private:
  Bench(reference::Oracle& oracle, BenchOptions options, TensorLayout layout, std::unique_ptr<HostCodeProcess> process,
        TemporaryDirectory buffers);
  absl::Status Prepare(int slots);
  absl::Status JudgeReference();
  absl::StatusOr<double> Run(const std::vector<int>& slots);

  reference::Oracle& oracle_;
  const BenchOptions options_;
  const TensorLayout layout_;
  const std::unique_ptr<HostCodeProcess> process_;
  const TemporaryDirectory buffers_;
  std::vector<std::vector<reference::SharedBuffer>> slots_;
  Json loaded_;
  double request_seconds_ = 0;
  double call_seconds_ = 0;
  v1::PrecisionClass reached_ = v1::PRECISION_CLASS_UNSPECIFIED;
};

}  // namespace warpsmith::host_code

#endif  // WARPSMITH_GPU_WORKER_HOST_CODE_BENCH_H_
