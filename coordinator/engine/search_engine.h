// Drives searches: at every change and every tick it reads a snapshot, asks the strategy, and writes the decision and
// its effects in one transaction. Threading: one thread of its own; MarkChanged may be called from any.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SEARCH_ENGINE_H_
#define WARPSMITH_COORDINATOR_ENGINE_SEARCH_ENGINE_H_

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "common/clock.h"
#include "coordinator/engine/decision_executor.h"
#include "coordinator/engine/signals.h"

namespace warpsmith::engine {

class SearchEngine {
 public:
  SearchEngine(store::Database& database, queue::TaskQueue& queue, const EngineSettings& settings, Signals& signals,
               Clock& clock);
  ~SearchEngine();

  void Start();
  void Stop();
  void MarkChanged(const std::string& search_id);
  // What the engine's thread does each time it wakes. Only for those who have not called Start and step it themselves.
  void Turn();

  // One decision on one search. False: the strategy waits.
  absl::StatusOr<bool> Step(const std::string& search_id);

  const DecisionExecutor& executor() const { return executor_; }

 private:
  void Loop();
  void Advance(const std::string& search_id);

  store::Database& database_;
  queue::TaskQueue& queue_;
  const EngineSettings settings_;
  Signals& signals_;
  Clock& clock_;
  const DecisionExecutor executor_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::string> changed_;  // guarded by mutex_
  bool stopping_ = false;          // guarded by mutex_
  TimePoint next_tick_{};          // the engine's thread's
  std::thread thread_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_SEARCH_ENGINE_H_
