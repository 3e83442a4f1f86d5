// One candidate from file to verdict: parse, compile, check, launch on fresh inputs, judge, time. The trusted oracle
// and the untrusted executor meet only in shared-memory files; this class orders them about and believes neither clock
// alone. Threading: Evaluate and Intake may be called from several threads. Compiling runs in parallel; the device and
// the oracle serve one candidate at a time. Units: milliseconds and seconds where named so. Errors: every end is an
// Evaluation; what is the machine's fault has outcome infra_error.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/clock.h"
#include "gpu_worker/compile/compiler.h"
#include "gpu_worker/evaluate/measurement.h"
#include "gpu_worker/evaluate/validation.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/plan/candidate.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::evaluate {

struct EvaluateRequest {
  v1::Problem problem;  // id, name, source, signature and baselines filled
  v1::IntakeSettings settings;
  std::string candidate;                     // the file
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  double incumbent_ms = 0;                   // 0: none
  std::string stage = "measure";             // or confirm
  int64_t seed = 0;
  bool frozen_weights = false;
};

struct EvaluatorOptions {
  v1::DeviceDescription device;
  std::string worker_id;
  std::filesystem::path shared_memory = "/dev/shm";
  size_t max_tune_variants = 4;
  int64_t candidate_memory_bytes = int64_t{4} << 30;  // address space of the executor beyond its own
  double run_limit_seconds = 20;                      // one run of the plan
  double evaluation_limit_seconds = 240;              // everything after compiling, a tuning variant
  MeasurementOptions measurement;
};

class Evaluator {
 public:
  Evaluator(EvaluatorOptions options, compile::Compiler& compiler, executor::ExecutorFactory& executors,
            reference::Oracle& oracle, Clock& clock);

  v1::Evaluation Evaluate(const EvaluateRequest& request, std::stop_token stop);
  // Signature and baselines of a problem file; a refused problem is a result with `error`.
  absl::StatusOr<v1::IntakeResult> Intake(const std::string& name, const std::string& source,
                                          const v1::IntakeSettings& settings);

 private:
  v1::Evaluation EvaluateVariant(const EvaluateRequest& request, const plan::Candidate& candidate,
                                 const plan::TuneAssignment& tune, std::stop_token stop);
  // False: `evaluation` says why it ends here.
  bool Compile(const plan::Candidate& candidate, const plan::TuneAssignment& tune, compile::CompileResult& result,
               v1::Evaluation& evaluation);
  absl::Status RunOnDevice(const EvaluateRequest& request, const v1::ExecutionPlan& plan,
                           const compile::CompileResult& compiled, std::stop_token stop, v1::Evaluation& evaluation);
  void Rate(const EvaluateRequest& request, v1::Evaluation& evaluation);

  const EvaluatorOptions options_;
  compile::Compiler& compiler_;
  executor::ExecutorFactory& executors_;
  reference::Oracle& oracle_;
  Clock& clock_;

  std::mutex device_mutex_;  // the device, the oracle and what follows
  std::string anchor_problem_;
  double anchor_ms_ = 0;
  TimePoint anchor_taken_{};
};

// The problem's id: the file and everything that changes what it means.
std::string ProblemId(const std::string& source, const v1::IntakeSettings& settings);

// "wrong_output" for OUTCOME_WRONG_OUTPUT.
std::string OutcomeName(v1::Outcome outcome);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_H_
