// What operators put in: searches, ideas, kernels. Each is checked, made idempotent by its request_id, and stored.
// Threading: stateless; each call runs its own transaction. Errors: InvalidArgument names the field and the remedy.
#ifndef WARPSMITH_COORDINATOR_API_SUBMISSION_H_
#define WARPSMITH_COORDINATOR_API_SUBMISSION_H_

#include <string>

#include "coordinator/engine/settings.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::api {

class Submission {
 public:
  Submission(store::Database& database, queue::TaskQueue& queue, const engine::EngineSettings& settings)
      : database_(database), queue_(queue), settings_(settings) {}

  // The search's id; that of the earlier one for a request_id that came before.
  absl::StatusOr<std::string> Submit(const v1::SubmitSearchRequest& request);
  // The idea's or candidate's id, and the search's in `search_id`.
  absl::StatusOr<std::string> InjectIdea(const v1::InjectIdeaRequest& request, std::string* search_id);
  absl::StatusOr<std::string> InjectKernel(const v1::InjectKernelRequest& request, std::string* search_id);

 private:
  store::Database& database_;
  queue::TaskQueue& queue_;
  const engine::EngineSettings settings_;
};

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_SUBMISSION_H_
