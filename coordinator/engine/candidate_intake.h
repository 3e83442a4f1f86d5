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
  int64_t reservation = 0;  // the call that it came of
};

// Stores it once (by idea, index and repair attempt) and orders its evaluation, or reuses one. Returns its id; "" where
// it was there before.
// Code that is an earlier candidate's of this search but for layout, comments and names is its duplicate: it waits for
// that one's result and shares it, and the strategy leaves it out. Where only another search that judges alike has the
// code, its result is taken over at once and the candidate counts as any other, with the source that was judged.
absl::StatusOr<std::string> AddCandidate(store::Transaction& transaction, queue::TaskQueue& queue,
                                         const EngineSettings& settings, const store::SearchRecord& search,
                                         const NewCandidate& candidate);

// Makes it a duplicate or orders its evaluation, as AddCandidate does; for a queued candidate that was a duplicate of
// one that it now turns out to differ from.
struct PlacedSource {
  std::string id;
  int round = 1;
  std::string normalized_sha256;
  std::string renamed_sha256;
};
absl::Status PlaceCandidate(store::Transaction& transaction, queue::TaskQueue& queue, const EngineSettings& settings,
                            const store::SearchRecord& search, const PlacedSource& source);

// Orders an evaluation. `key` makes it one task.
absl::Status OrderEvaluation(store::Transaction& transaction, queue::TaskQueue& queue, const EngineSettings& settings,
                             const store::SearchRecord& search, const std::string& candidate_id, int round,
                             const std::string& stage, const std::string& key);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_CANDIDATE_INTAKE_H_
