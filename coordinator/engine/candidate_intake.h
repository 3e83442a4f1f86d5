// How a candidate comes into the tree: from a model's reply, a repair, or an operator.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_ENGINE_CANDIDATE_INTAKE_H_
#define WARPSMITH_COORDINATOR_ENGINE_CANDIDATE_INTAKE_H_

#include <string>

#include "coordinator/engine/settings.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

struct NewCandidate {
  std::string idea_id;  // empty: injected kernel
  std::string parent_id;
  std::string repair_of;
  int round = 1;
  int index = 0;
  int repair_attempt = 0;
  std::string request_id;
  std::string title;
  std::string model;
  std::string source;         // empty: rejected
  std::string reject_reason;  // why there is no source
  std::string reject_message;
};

// Stores it once (by idea, index and repair attempt) and orders its evaluation, or reuses the evaluation of the same
// source in this search. Returns its id; "" where it was there before.
absl::StatusOr<std::string> AddCandidate(store::Transaction& transaction, queue::TaskQueue& queue,
                                         const EngineSettings& settings, const store::SearchRecord& search,
                                         const NewCandidate& candidate);

// Orders an evaluation. `key` makes it one task.
absl::Status OrderEvaluation(store::Transaction& transaction, queue::TaskQueue& queue, const EngineSettings& settings,
                             const store::SearchRecord& search, const std::string& candidate_id, int round,
                             const std::string& stage, const std::string& key);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_CANDIDATE_INTAKE_H_
