// Why a search's tasks are not handed out: it is paused, waits for its turn, or nothing that is connected can take
// them. Threading: pure, but for ReadPlacement, a function over a transaction. Units: bytes, seconds.
#ifndef WARPSMITH_COORDINATOR_API_EXPLANATION_PLACEMENT_H_
#define WARPSMITH_COORDINATOR_API_EXPLANATION_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/engine/settings.h"
#include "coordinator/store/records.h"

namespace warpsmith::api {

// Waiting tasks that need the same.
struct WaitingTasks {
  std::string kind;
  std::string device_class;  // empty: any
  int64_t bytes_min = 0;     // 0: not known, fits
  bool held = false;
  int count = 0;
  double oldest_seconds = 0;
};

struct PlaceableWorker {
  std::string device_class;
  int64_t memory_bytes = 0;  // 0: not known, everything fits
  bool draining = false;
  bool busy = false;
};

struct PlacementView {
  std::string batch_id, batch_name;  // empty: in none
  bool paused = false;
  bool admitted = true;
  bool waits_for_round = false;
  int round = 0, rounds = 0;
  int parallel = 0;  // of the batch; 0: no limit
  std::string owner;
  int quota = 0;  // of the owner; 0: none
  int owner_active = 0;
  double day_usd = 0, max_day_usd = 0;
  bool day_spent = false;
  std::vector<WaitingTasks> waiting;
  std::vector<PlaceableWorker> workers;  // connected
};

absl::StatusOr<PlacementView> ReadPlacement(store::Transaction& transaction, const store::SearchRecord& search,
                                            const engine::EngineSettings& settings, const std::string& day);

// Plain sentences with the remedy, most important first; empty: nothing stands in the tasks' way but other work.
std::vector<std::string> PlacementFindings(const PlacementView& view);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_EXPLANATION_PLACEMENT_H_
