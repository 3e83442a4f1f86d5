// Who is told what happens in the engine, for metrics: nothing depends on it, and the default hears nothing.
// Threading: OnTurn and OnFleet by the hub's thread, the others by whoever records; implementations must not wait.
#ifndef WARPSMITH_COORDINATOR_ENGINE_ENGINE_OBSERVER_H_
#define WARPSMITH_COORDINATOR_ENGINE_ENGINE_OBSERVER_H_

#include <string>
#include <vector>

#include "common/clock.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::engine {

// A worker that is connected, and how its device does.
struct FleetMember {
  std::string worker_id;
  std::string boot_id;
  std::string node;  // empty: it does not say
  std::string gpu;
  bool draining = false;
  bool busy = false;  // it holds a task
  v1::DeviceCondition condition;
};

class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  // One turn of the hub's thread.
  virtual void OnTurn(Duration) {}
  // All workers that are connected, about once a second.
  virtual void OnFleet(const std::vector<FleetMember>&) {}
  // Recorded for the first time, and committed.
  virtual void OnEvaluation(const std::string& /*worker_id*/, const std::string& /*stage*/, const v1::Evaluation&) {}
  virtual void OnIntake(bool /*refused*/, double /*seconds*/) {}
  // Results that came too late.
  virtual void OnStale(int /*results*/) {}

  static EngineObserver& None() {
    static EngineObserver none;
    return none;
  }
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_ENGINE_OBSERVER_H_
