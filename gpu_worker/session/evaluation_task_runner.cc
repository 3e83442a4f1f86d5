#include "gpu_worker/session/evaluation_task_runner.h"

#include <fmt/format.h>

#include "common/log.h"
#include "common/protocol_names.h"

namespace warpsmith::session {
namespace {

constexpr size_t kCachedBlobs = 64;
constexpr int kBlobTries = 30;  // the coordinator may be restarting

}  // namespace

absl::StatusOr<std::string> EvaluationTaskRunner::Blob(const std::string& sha256, std::stop_token stop) {
  {
    std::lock_guard lock(mutex_);
    if (auto found = blobs_.find(sha256); found != blobs_.end()) return found->second;
  }
  absl::StatusOr<std::string> data = Unavailable("not asked yet");
  for (int attempt = 0; attempt < kBlobTries && !stop.stop_requested(); ++attempt) {
    data = connector_.GetBlob(sha256);
    if (data.ok() || !(data.status().code() == absl::StatusCode::kUnavailable)) break;
    RealClock().SleepFor(std::chrono::seconds(1));
  }
  if (!data.ok()) return data;
  std::lock_guard lock(mutex_);
  if (blobs_.emplace(sha256, *data).second) blob_order_.push_back(sha256);
  if (blob_order_.size() > kCachedBlobs) {
    blobs_.erase(blob_order_.front());
    blob_order_.pop_front();
  }
  return data;
}

absl::Status EvaluationTaskRunner::Evaluate(const v1::EvaluateTask& task, std::stop_token stop,
                                            v1::TaskResult& result) {
  evaluate::EvaluateRequest request;
  WARPSMITH_ASSIGN_OR_RETURN(*request.problem.mutable_source(), Blob(task.problem_sha256(), stop));
  WARPSMITH_ASSIGN_OR_RETURN(request.candidate, Blob(task.candidate_sha256(), stop));
  if (!task.incumbent_sha256().empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(request.incumbent, Blob(task.incumbent_sha256(), stop));
  }
  request.problem.set_id(task.problem_id());
  request.problem.set_name(task.problem_name());
  *request.problem.mutable_signature() = task.signature();
  *request.problem.mutable_baselines() = task.baselines();
  request.settings = task.settings();
  for (int i = 0; i < task.accepted_size(); ++i) request.accepted.push_back(task.accepted(i));
  request.incumbent_ms = task.incumbent_ms();
  if (!task.stage().empty()) request.stage = task.stage();
  request.seed = task.seed();
  request.frozen_weights = task.frozen_weights();
  request.profile_winner = true;  // it may become a parent
  v1::Evaluation evaluation = evaluator_.Evaluate(request, stop);
  spdlog::info("task candidate {}: {} {}", task.candidate_sha256().substr(0, 12), OutcomeName(evaluation.outcome()),
               evaluation.outcome() == v1::OUTCOME_OK ? fmt::format("{:.4f} ms", evaluation.timing().median_ms()) : "");
  if (evaluation.outcome() == v1::OUTCOME_INFRA_ERROR) return Internal(evaluation.message());
  *result.mutable_evaluation() = std::move(evaluation);
  return absl::OkStatus();
}

absl::Status EvaluationTaskRunner::Intake(const v1::IntakeTask& task, std::stop_token stop, v1::TaskResult& result) {
  WARPSMITH_ASSIGN_OR_RETURN(std::string source, Blob(task.problem_sha256(), stop));
  const auto effort = task.baselines() == "eager" ? evaluate::BaselineEffort::kCached : evaluate::BaselineEffort::kAll;
  WARPSMITH_ASSIGN_OR_RETURN(*result.mutable_intake(),
                             evaluator_.Intake(task.problem_name(), source, task.settings(), effort));
  return absl::OkStatus();
}

v1::TaskResult EvaluationTaskRunner::Run(const v1::Assignment& assignment, std::stop_token stop) {
  v1::TaskResult result;
  absl::Status status;
  switch (assignment.task_case()) {
    case v1::Assignment::kEvaluate:
      status = Evaluate(assignment.evaluate(), stop, result);
      break;
    case v1::Assignment::kIntake:
      status = Intake(assignment.intake(), stop, result);
      break;
    case v1::Assignment::TASK_NOT_SET:
      status = Internal("this worker does not know this kind of task; upgrade it");
      break;
  }
  if (!status.ok()) {
    spdlog::error("task {}: {}", assignment.task_id(), Message(status));
    result.set_infra_error(Message(status));
  }
  return result;
}

}  // namespace warpsmith::session
