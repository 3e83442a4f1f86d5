// Assignments done by an Evaluator: sources fetched by hash, kept in a small cache.
// Threading: safe from several threads. Errors: a blob that cannot be had or a machine that fails is infra_error.
#ifndef WARPSMITH_GPU_WORKER_SESSION_EVALUATION_TASK_RUNNER_H_
#define WARPSMITH_GPU_WORKER_SESSION_EVALUATION_TASK_RUNNER_H_

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "gpu_worker/evaluate/evaluator.h"
#include "gpu_worker/session/coordinator_stream.h"
#include "gpu_worker/session/task_runner.h"

namespace warpsmith::session {

class EvaluationTaskRunner final : public TaskRunner {
 public:
  EvaluationTaskRunner(evaluate::Evaluator& evaluator, CoordinatorConnector& connector)
      : evaluator_(evaluator), connector_(connector) {}

  v1::TaskResult Run(const v1::Assignment& assignment, std::stop_token stop) override;

 private:
  absl::StatusOr<std::string> Blob(const std::string& sha256, std::stop_token stop);
  absl::Status Evaluate(const v1::EvaluateTask& task, std::stop_token stop, v1::TaskResult& result);
  absl::Status Intake(const v1::IntakeTask& task, std::stop_token stop, v1::TaskResult& result);

  evaluate::Evaluator& evaluator_;
  CoordinatorConnector& connector_;
  std::mutex mutex_;
  std::map<std::string, std::string> blobs_;
  std::deque<std::string> blob_order_;  // oldest first
};

}  // namespace warpsmith::session

#endif  // WARPSMITH_GPU_WORKER_SESSION_EVALUATION_TASK_RUNNER_H_
