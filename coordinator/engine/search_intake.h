// A search as it comes in, alone or as a problem of a batch: checked, stored, its intake ordered.
// Threading: pure functions over a transaction. Errors: InvalidArgument names the field and the remedy.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SEARCH_INTAKE_H_
#define WARPSMITH_COORDINATOR_ENGINE_SEARCH_INTAKE_H_

#include <string>

#include "coordinator/engine/settings.h"
#include "coordinator/queue/task_queue.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::engine {

// Where a search stands among others.
struct SearchPlace {
  std::string batch_id;   // empty: in none
  std::string batch_key;  // of the problem within the batch
  int level = 0;          // KernelBench's; 0: none
  int number = 0;
  std::string owner;     // whose quota it counts against
  int priority = 0;      // larger goes first
  bool admitted = true;  // false: it waits until the scheduler lets it in
  bool paused = false;
  std::string replaces;  // the failed search of the same problem of the batch
};

absl::Status CheckLine(const std::string& field, const std::string& value, size_t most);
absl::Status CheckSource(const std::string& field, const std::string& source);

// `message` names the request in errors.
absl::Status CheckSearch(const v1::SubmitSearchRequest& request, const std::string& message);

// The new search's id; that of the earlier one for a request_id that came before. The request was checked.
absl::StatusOr<std::string> InsertSearch(store::Transaction& transaction, queue::TaskQueue& queue,
                                         const EngineSettings& settings, const v1::SubmitSearchRequest& request,
                                         const SearchPlace& place);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_SEARCH_INTAKE_H_
