// Drives searches: at every change and every tick it reads a snapshot, asks the strategy, and writes the decision and
// its effects in one transaction. Threading: one thread of its own; MarkChanged may be called from any.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SEARCH_ENGINE_H_
#define WARPSMITH_COORDINATOR_ENGINE_SEARCH_ENGINE_H_

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

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

  // One decision on one search. False: the strategy waits. Most changes call for none, so it is looked first without a
  // lock and without a write; what is to be done is then decided anew under the search's lock. A change that the look
  // saw by half tells of itself after its commit.
  absl::StatusOr<bool> Step(const std::string& search_id);

  const DecisionExecutor& executor() const { return executor_; }

 private:
  // What a strategy saw and wants.
  struct Plan {
    store::SearchRecord record;
    std::string snapshot_hash;
    int64_t now_us = 0;
    std::vector<search::Action> actions;
  };

  void Loop();
  void Advance(const std::string& search_id);
  absl::Status MakePlan(store::Transaction& transaction, const std::string& search_id, bool to_look, Plan* plan);

  store::Database& database_;
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
