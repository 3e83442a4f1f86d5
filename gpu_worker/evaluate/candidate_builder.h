// From a candidate's file to what an executor runs, without touching the device: checks, compiler, expansion.
// Threading: safe from any thread; candidates are built side by side. Errors: false, and the Evaluation says why.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_CANDIDATE_BUILDER_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_CANDIDATE_BUILDER_H_

#include <string>

#include "gpu_worker/compile/compiler.h"
#include "gpu_worker/evaluate/evaluator_options.h"
#include "gpu_worker/plan/candidate.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::evaluate {

struct BuiltCandidate {
  v1::ExecutionPlan plan;
  std::string artifact;  // for the device at hand
};

class CandidateBuilder {
 public:
  CandidateBuilder(const EvaluatorOptions& options, compile::Compiler& compiler)
      : options_(options), compiler_(compiler) {}

  bool Build(const EvaluateRequest& request, const plan::Candidate& candidate, const plan::TuneAssignment& tune,
             StageClock& stages, BuiltCandidate& built, v1::Evaluation& evaluation);

 private:
  bool Compile(const plan::Candidate& candidate, const plan::TuneAssignment& tune, compile::CompileResult& result,
               v1::Evaluation& evaluation);
  plan::DeviceLimits LimitsFor(const v1::ProblemSignature& signature, const plan::Candidate& candidate) const;

  const EvaluatorOptions& options_;
  compile::Compiler& compiler_;
};

// The machine's fault.
v1::Evaluation InfraError(const std::string& message);
void SetPlanError(const absl::Status& status, const std::string& stage, v1::Evaluation& evaluation);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_CANDIDATE_BUILDER_H_
