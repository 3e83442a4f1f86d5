#include "cli/local_evaluation.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "gpu_worker/evaluate/local_evaluator.h"

namespace warpsmith::cli {
namespace {

// Compiled artifacts and baselines are worth keeping between calls.
std::filesystem::path CacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::filesystem::path(cache) / "warpsmith";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : "/tmp") / ".cache" / "warpsmith";
}

// "1" is the second GPU.
std::string DeviceOf(const std::string& name) {
  bool number = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? "cuda:" + name : name;
}

class LocalSession final : public EvaluationSession {
 public:
  LocalSession(EvaluateOptions options, std::unique_ptr<evaluate::LocalEvaluator> local)
      : options_(std::move(options)), local_(std::move(local)) {}

  const v1::DeviceDescription& device() const override { return local_->device(); }

  absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source) override {
    const std::string id = evaluate::ProblemId(source, options_.intake);
    std::lock_guard lock(mutex_);  // one intake at a time, and once each
    if (auto known = problems_.find(id); known != problems_.end()) return known->second;
    absl::StatusOr<v1::Problem> problem = FirstTakeIn(id, name, source);
    problems_.emplace(id, problem);
    return problem;
  }

  v1::Evaluation Evaluate(const v1::Problem& problem, const std::string& kernel,
                          const std::vector<v1::PrecisionClass>& accepted, std::stop_token stop) override {
    evaluate::EvaluateRequest request;
    request.problem = problem;
    request.settings = options_.intake;
    request.candidate = kernel;
    request.accepted = accepted.empty() ? options_.accepted : accepted;
    request.incumbent = options_.incumbent;
    if (options_.confirm) request.stage = "confirm";
    request.seed = options_.seed;
    request.reproduce = options_.seed_given;
    request.frozen_weights = options_.frozen_weights;
    request.profile = options_.profile;
    return local_->evaluator().Evaluate(request, std::move(stop));
  }

 private:
  absl::StatusOr<v1::Problem> FirstTakeIn(const std::string& id, const std::string& name, const std::string& source) {
    WARPSMITH_ASSIGN_OR_RETURN(v1::IntakeResult intake,
                               local_->evaluator().Intake(name, source, options_.intake,
                                                          options_.baselines ? evaluate::BaselineEffort::kAll
                                                                             : evaluate::BaselineEffort::kCached));
    if (!intake.error().empty()) return InvalidArgument(intake.error());
    v1::Problem problem;
    problem.set_id(id);
    problem.set_name(name);
    problem.set_source(source);
    *problem.mutable_signature() = intake.signature();
    *problem.mutable_baselines() = intake.baselines();
    return problem;
  }

  const EvaluateOptions options_;
  const std::unique_ptr<evaluate::LocalEvaluator> local_;
  std::mutex mutex_;
  std::map<std::string, absl::StatusOr<v1::Problem>> problems_;  // by id; guarded by mutex_
};

}  // namespace

absl::StatusOr<std::unique_ptr<EvaluationSession>> OpenLocalSession(const EvaluateOptions& options) {
  evaluate::LocalEvaluatorOptions local_options;
  local_options.cache_folder = CacheFolder();
  local_options.device = DeviceOf(options.device);
  local_options.run_limit_seconds = options.run_limit_seconds;
  WARPSMITH_ASSIGN_OR_RETURN(auto local, evaluate::LocalEvaluator::Create(local_options));
  return std::unique_ptr<EvaluationSession>(std::make_unique<LocalSession>(options, std::move(local)));
}

}  // namespace warpsmith::cli
