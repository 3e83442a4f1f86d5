// One built candidate on the device, from buffers to verdict: the first trial, a screen, the remaining trials, a
// measurement, and a confirmation where one is asked for. What is far behind the incumbent stops early.
// Threading: one thread, which holds the device's turn. Errors: a Status is the machine's fault; every other end is in
// the Evaluation. An Evaluation without an outcome was stopped.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_CANDIDATE_RUN_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_CANDIDATE_RUN_H_

#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/file.h"
#include "gpu_worker/evaluate/candidate_builder.h"
#include "gpu_worker/evaluate/device_guard.h"
#include "gpu_worker/evaluate/evaluator_options.h"
#include "gpu_worker/evaluate/quiet_window.h"
#include "gpu_worker/evaluate/stage_clock.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/profile/profiler.h"
#include "gpu_worker/reference/oracle.h"

namespace warpsmith::evaluate {

// The module's own time on this device, and when it was taken.
struct Anchor {
  std::string problem_id;
  double median_ms = 0;
  TimePoint taken{};
};

// What does not change from one candidate to the next.
struct RunParts {
  const EvaluatorOptions& options;
  executor::ExecutorFactory& executors;
  QuietWindow& quiet;
  reference::Oracle& oracle;
  Clock& clock;
  DeviceGuard* guard;           // null on the emulated device
  profile::Profiler* profiler;  // null where there is none
};

// A candidate's files, written before its turn comes.
class CandidateFiles {
 public:
  static absl::StatusOr<CandidateFiles> Write(const BuiltCandidate& candidate, const BuiltCandidate* incumbent);
  std::string candidate() const { return (folder_.path() / "candidate.bin").string(); }
  std::string incumbent() const { return (folder_.path() / "incumbent.bin").string(); }
  std::string folder() const { return folder_.path().string(); }

 private:
  explicit CandidateFiles(TemporaryDirectory folder) : folder_(std::move(folder)) {}
  TemporaryDirectory folder_;
};

struct RunJob {
  const EvaluateRequest& request;
  const BuiltCandidate& candidate;
  const BuiltCandidate* incumbent;  // null: none to compare with
  const CandidateFiles& files;
  Slices::Slice slice;
  uint64_t random_seed = 1;
};

class CandidateRun {
 public:
  CandidateRun(const RunParts& parts, const RunJob& job, StageClock& stages)
      : parts_(parts), job_(job), stages_(stages) {}

  absl::Status Run(std::stop_token stop, Anchor& anchor, v1::Evaluation& evaluation);

 private:
  absl::Status Prepare();
  absl::Status Judge(std::stop_token stop, Anchor& anchor, v1::Evaluation& evaluation);
  // True: `timing` is a measured time. False: `evaluation` has its outcome, or was stopped.
  absl::StatusOr<bool> ScreenAndValidate(std::stop_token stop, v1::Timing& timing, v1::Evaluation& evaluation);
  absl::StatusOr<bool> MeasureAndConfirm(v1::Timing& timing, v1::Evaluation& evaluation);
  absl::Status TakeAnchor(Anchor& anchor, v1::Timing& timing);
  // Until processes that are being made ready stand still.
  void BeginQuiet();
  absl::Status Quiesce();
  void Profile(const v1::Timing& timing, v1::Evaluation& evaluation);
  double RunLimitSeconds() const;
  bool emulated() const { return parts_.options.device.emulated(); }
  bool confirming() const { return job_.request.stage == "confirm"; }

  const RunParts parts_;
  const RunJob job_;
  StageClock& stages_;
  SlotLayout layout_;
  std::optional<TemporaryDirectory> buffers_;
  executor::ExecutorSpec spec_;
  std::future<absl::StatusOr<std::unique_ptr<executor::Executor>>> starting_;  // reads spec_
  std::unique_ptr<executor::Executor> executor_;
  std::unique_ptr<executor::Executor> incumbent_;
  std::string incumbent_error_;
  std::unique_ptr<ThrottleGate> gate_;
  std::unique_ptr<Validation> validation_;
  std::unique_ptr<Measurement> measurement_;
};

// Buffers for two plans of the same problem: the first one's, then the second one's scratch. `of_second[b]` is where
// the second plan's buffer b stands.
struct SharedBuffers {
  v1::ExecutionPlan plan;
  std::vector<int> of_second;
};
SharedBuffers ShareBuffers(const v1::ExecutionPlan& first, const v1::ExecutionPlan& second);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_CANDIDATE_RUN_H_
