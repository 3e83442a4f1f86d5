// One candidate from file to verdict: parse, compile, check, launch on fresh inputs, judge, time. The trusted oracle
// and the untrusted executor meet only in shared memory; this class orders them about and believes neither clock alone.
// Threading: Evaluate and Intake may be called from several threads. Parsing, compiling and writing files run in
// parallel; the device and the oracle serve one candidate at a time, in the order of DeviceTurn. Units: milliseconds
// and seconds where named so. Errors: every end is an Evaluation; what is the machine's fault has outcome infra_error.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_H_

#include <mutex>
#include <stop_token>
#include <string>

#include "common/clock.h"
#include "gpu_worker/compile/compiler.h"
#include "gpu_worker/evaluate/baseline_cache.h"
#include "gpu_worker/evaluate/candidate_run.h"
#include "gpu_worker/evaluate/device_guard.h"
#include "gpu_worker/evaluate/device_turn.h"
#include "gpu_worker/evaluate/evaluator_options.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::evaluate {

// What only a GPU has; all of it may be missing.
struct GpuServices {
  DeviceGuard* guard = nullptr;
  profile::Profiler* profiler = nullptr;
  BaselineCache* baselines = nullptr;
  BaselineKey baseline_key;  // problem_id is filled in
};

// How much is timed at intake on a GPU: what the cache knows, or every method that the cache does not.
enum class BaselineEffort { kCached, kAll };

class Evaluator {
 public:
  Evaluator(EvaluatorOptions options, compile::Compiler& compiler, executor::ExecutorFactory& executors,
            reference::Oracle& oracle, Clock& clock, GpuServices services = {});

  v1::Evaluation Evaluate(const EvaluateRequest& request, std::stop_token stop);
  // Signature and baselines of a problem file; a refused problem is a result with `error`.
  absl::StatusOr<v1::IntakeResult> Intake(const std::string& name, const std::string& source,
                                          const v1::IntakeSettings& settings,
                                          BaselineEffort effort = BaselineEffort::kAll);
  // Not OK: the device cannot be trusted at the moment, and why; every candidate ends as infra_error.
  absl::Status Health() const;

 private:
  v1::Evaluation EvaluateVariant(const EvaluateRequest& request, const plan::Candidate& candidate,
                                 const plan::TuneAssignment& tune, std::stop_token stop);
  absl::Status TakeTurnAndRun(const EvaluateRequest& request, const BuiltCandidate& built, StageClock& stages,
                              std::stop_token stop, v1::Evaluation& evaluation);
  // With the device's turn: it answers, and rightly.
  absl::Status CheckDevice();
  // Tells the guard how it went; a candidate that is not to blame becomes the machine's fault.
  absl::Status NoteEnd(absl::Status status, const v1::Evaluation& evaluation);
  absl::Status BuildIncumbent(const EvaluateRequest& request, StageClock& stages, BuiltCandidate& built);
  absl::Status AddBaselines(const std::string& name, const std::string& source, const v1::IntakeSettings& settings,
                            BaselineEffort effort, v1::IntakeResult& result);
  void SetHealth(const absl::Status& health);

  const EvaluatorOptions options_;
  CandidateBuilder builder_;
  executor::ExecutorFactory& executors_;
  reference::Oracle& oracle_;
  Clock& clock_;
  const GpuServices services_;

  DeviceTurn turn_;
  // Of whoever has the turn.
  QuietWindow quiet_;
  Slices slices_;
  Anchor anchor_;
  bool wedged_ = false;

  mutable std::mutex health_mutex_;
  absl::Status health_;  // guarded by health_mutex_
};

// The problem's id: the file and everything that changes what it means.
std::string ProblemId(const std::string& source, const v1::IntakeSettings& settings);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_H_
