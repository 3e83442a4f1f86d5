// Which workers there are and were lately, on which devices, and how those do: what is left of a worker that is gone is
// known nowhere else. Threading: safe from any thread. Labels are bounded.
#ifndef WARPSMITH_COORDINATOR_METRICS_FLEET_BOOK_H_
#define WARPSMITH_COORDINATOR_METRICS_FLEET_BOOK_H_

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/metrics/bounded_labels.h"
#include "coordinator/engine/engine_observer.h"

namespace warpsmith::metrics {

struct FleetPlace {
  std::string node, gpu;
};

struct FleetRestart {
  std::string node, reason;  // drained, died, wedged, retired
};

struct FleetFigures {
  int connected = 0, draining = 0, silent = 0;
  std::map<std::pair<std::string, std::string>, int> gpus;  // by node and state; every state of a node that is known
};

class FleetBook {
 public:
  explicit FleetBook(Clock& clock) : clock_(clock) {}

  // All that are connected; returns those that came back as a new process since the last time.
  std::vector<FleetRestart> Update(const std::vector<engine::FleetMember>& members);
  // Where a worker's device is; "other" for one that was never seen.
  FleetPlace PlaceOf(const std::string& worker_id) const;
  FleetFigures Figures() const;

 private:
  enum class State { kIdle, kBusy, kThrottled, kWedged, kQuarantined, kDraining };
  struct Entry {
    FleetPlace place;
    std::string boot_id;
    State state = State::kIdle;
    bool draining = false;
    bool connected = true;
    TimePoint seen{};  // when it was last connected
  };
  static State StateOf(const engine::FleetMember& member);
  void Forget(TimePoint now);

  Clock& clock_;
  mutable std::mutex mutex_;
  BoundedLabels nodes_{500};
  BoundedLabels gpus_{64};
  std::map<std::string, Entry> entries_;  // by worker id, guarded by mutex_
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COORDINATOR_METRICS_FLEET_BOOK_H_
