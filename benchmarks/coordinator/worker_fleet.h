// Many simulated workers in one process: each with a connection and a session stream of its own, speaking as the worker
// does (Hello, Syncs, results until acknowledged), but computing nothing: a result goes back as soon as its task comes.
// Threading: safe from any thread; the work is done on gRPC's own threads and one that sends the Syncs.
// Units: microseconds since 1970 UTC.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_WORKER_FLEET_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_WORKER_FLEET_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith::bench {

struct FleetOptions {
  std::string address;
  std::string name = "sim";  // workers are NAME-0, NAME-1, ...
  int workers = 1000;
  int slots = 2;
  bool hold = false;  // takes tasks and lists them, and never ends them
};

struct TaskStart {
  int64_t task_id = 0;
  int64_t micros = 0;
};

struct FleetCounters {
  std::atomic<int64_t> connected{0};   // streams that were welcomed and are open
  std::atomic<int64_t> reconnects{0};  // streams that ended before the fleet did
  std::atomic<int64_t> assigned{0};
  std::atomic<int64_t> recorded{0};  // results acknowledged as recorded
  std::atomic<int64_t> refused{0};   // acknowledged as stale
  std::atomic<int64_t> cancelled{0};
};

class SimulatedWorker;

class WorkerFleet {
 public:
  explicit WorkerFleet(FleetOptions options);
  ~WorkerFleet();

  // Waits until every worker was welcomed.
  absl::Status Connect(Duration patience);
  // Draining workers get no tasks.
  void SetDraining(bool draining);
  const FleetCounters& counters() const { return counters_; }
  // Whether each candidate's source is fetched first, as a worker must; whether it is noted when each task came.
  void SetFetching(bool fetching) { fetching_ = fetching; }
  void SetKeepingStarts(bool keeping) { keeping_starts_ = keeping; }
  // How many tasks the workers have in hand.
  int64_t InHand() const { return counters_.assigned - counters_.recorded - counters_.refused - counters_.cancelled; }
  // What was noted since the last call.
  std::vector<TaskStart> TakeStarts();

 private:
  friend class SimulatedWorker;
  void SyncLoop();

  const FleetOptions options_;
  FleetCounters counters_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;          // guarded by mutex_
  std::vector<TaskStart> starts_;  // guarded by mutex_
  std::atomic<bool> draining_{false};
  std::atomic<bool> fetching_{false};
  std::atomic<bool> keeping_starts_{false};
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  std::thread syncs_;
};

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_WORKER_FLEET_H_
