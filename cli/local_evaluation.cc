#include "cli/local_evaluation.h"

#include <cstdlib>
#include <filesystem>

#include "gpu_worker/evaluate/local_evaluator.h"

namespace warpsmith::cli {
namespace {

// Compiled artifacts are worth keeping between calls.
std::filesystem::path CacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::filesystem::path(cache) / "warpsmith";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : "/tmp") / ".cache" / "warpsmith";
}

}  // namespace

absl::StatusOr<LocalEvaluation> EvaluateLocally(const EvaluateOptions& options, const std::string& problem_source,
                                                const std::string& kernel_source) {
  evaluate::LocalEvaluatorOptions local_options;
  local_options.cache_folder = CacheFolder();
  WARPSMITH_ASSIGN_OR_RETURN(auto local, evaluate::LocalEvaluator::Create(local_options));
  evaluate::Evaluator& evaluator = local->evaluator();
  WARPSMITH_ASSIGN_OR_RETURN(v1::IntakeResult intake,
                             evaluator.Intake(options.problem_name, problem_source, options.intake));
  if (!intake.error().empty()) return InvalidArgument(intake.error());
  evaluate::EvaluateRequest request;
  request.problem.set_id(evaluate::ProblemId(problem_source, options.intake));
  request.problem.set_name(options.problem_name);
  request.problem.set_source(problem_source);
  *request.problem.mutable_signature() = intake.signature();
  *request.problem.mutable_baselines() = intake.baselines();
  request.settings = options.intake;
  request.candidate = kernel_source;
  request.accepted = options.accepted;
  request.seed = options.seed;
  request.frozen_weights = options.frozen_weights;
  LocalEvaluation result;
  result.evaluation = evaluator.Evaluate(request, {});
  result.problem = request.problem;
  return result;
}

}  // namespace warpsmith::cli
