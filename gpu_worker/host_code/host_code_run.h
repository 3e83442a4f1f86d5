// One candidate, from its file to a verdict and a time. The reference is timed while the candidate's process is stopped
// (on a GPU, before it has its code), and again when it is dead, so that nothing of it runs beside the reference.
// A candidate may change whatever it likes in its own process, the code that calls it among it. So a time counts only
// as far as the oracle finds right answers in our buffers: each call of a timed batch has inputs that the process has
// never seen, its output must lie in our buffer when the answer comes (the oracle glances at some at once), and
// the last batch ends with the process's death, which takes along what is still under way on a GPU.
// Threading: one thread. Units: seconds where named so. Errors: a Status is the machine's fault.
#ifndef WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_RUN_H_
#define WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/host_code/bench.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::host_code {

struct HostCodeCandidate {
  std::string source;
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  bool frozen_weights = false;               // parameters are what the constructor saw: never drawn anew
};

struct HostCodeVerdict {
  v1::Evaluation evaluation;  // timing.anchor_ms: the module itself by the same way
  double reference_spread = 0;
  int calls = 0;          // of one timed batch
  int batches = 0;        // of the candidate
  double request_ms = 0;  // subtracted from each batch
  std::string weights;    // how it got the module's: name, order, seed, none
  v1::PrecisionClass reference_reached = v1::PRECISION_CLASS_UNSPECIFIED;
};

struct HostCodeRunOptions {
  int plain_trials = 5;
  int least_batches = 5;  // of the candidate; how many more is a draw
  int more_batches = 3;
  int reference_batches = 3;  // before, and as many after
};

class HostCodeRun {
 public:
  // `process` is launched and holds nothing; `seed` is secret.
  HostCodeRun(const HostCodeRunOptions& options, const v1::ProblemSignature& signature, bool eval_mode,
              reference::Oracle& oracle, Bench& bench, std::unique_ptr<HostCodeProcess> process, int64_t seed);

  absl::StatusOr<HostCodeVerdict> Run(const HostCodeCandidate& candidate);

 private:
  // False: the verdict has an outcome.
  absl::StatusOr<bool> Load(const HostCodeCandidate& candidate);
  absl::StatusOr<bool> Trials(const HostCodeCandidate& candidate);
  absl::StatusOr<bool> Trial(int number, int64_t seed, const std::string& distribution, double limit,
                             const HostCodeCandidate& candidate, std::string& digest);
  absl::StatusOr<bool> Batches(const HostCodeCandidate& candidate);
  absl::StatusOr<bool> Batch(int number, bool last, const HostCodeCandidate& candidate);
  absl::StatusOr<bool> Written(const std::vector<int>& slots);
  absl::Status TimeReference(int64_t seed);
  void Summarise();
  bool Answered(const HostCodeAnswer& answer, const std::string& stage);
  bool Judged(const reference::JudgeReport& report, const std::string& stage);

  const HostCodeRunOptions options_;
  const v1::ProblemSignature& signature_;
  const bool eval_mode_;
  reference::Oracle& oracle_;
  Bench& bench_;
  std::unique_ptr<HostCodeProcess> process_;
  const int64_t seed_;
  HostCodeVerdict verdict_;
  double call_seconds_ = 0;    // of the candidate, about
  std::vector<double> times_;  // seconds a call, by batch
  std::vector<double> reference_times_;
};

}  // namespace warpsmith::host_code

#endif  // WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_RUN_H_
