// Puts searches, candidates and tasks into the tables by SQL: in bulk before a measurement and whenever few are left,
// or at a steady rate while one runs. Threading: one thread for Fill; a thread of its own for what follows. Units:
// microseconds since 1970 UTC.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_TASK_FEEDER_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_TASK_FEEDER_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "benchmarks/coordinator/server_under_test.h"

namespace warpsmith::bench {

class TaskFeeder {
 public:
  explicit TaskFeeder(ServerUnderTest& server) : server_(server) {}
  ~TaskFeeder() { Stop(); }

  absl::Status Prepare();  // what all rows refer to
  // So many finished candidates with their tasks and evaluations; `said` hears how many are in.
  absl::Status FillFinished(int64_t rows, const std::function<void(int64_t)>& said);
  // So many candidates that wait, with their tasks. Returns the tasks' ids.
  absl::StatusOr<std::vector<int64_t>> FillWaiting(int64_t rows);
  // Keeps at least `low` tasks waiting, as `taken` counts what went.
  void KeepFull(int64_t low, int64_t step, std::function<int64_t()> taken);
  // Puts in `per_second` tasks, each in its time whatever becomes of the others, and notes when.
  void FeedSteadily(double per_second);
  void Stop();

  int64_t waiting_put_in() const { return waiting_put_in_; }
  // Why feeding ended early; empty: it did not.
  std::string error() const;
  // When each task of FeedSteadily was put in.
  std::unordered_map<int64_t, int64_t> TakePutIn();

 private:
  absl::Status AddSearches(int64_t up_to_candidate, bool finished);
  absl::StatusOr<store::ResultSet> AddWaiting(int64_t rows);
  void Run(const std::function<absl::Status()>& step, Duration pause);

  ServerUnderTest& server_;
  std::string source_sha256_;
  int64_t next_candidate_ = 0;
  int64_t next_search_ = 0;
  std::atomic<int64_t> waiting_put_in_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::string error_;                            // guarded by mutex_
  std::unordered_map<int64_t, int64_t> put_in_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_TASK_FEEDER_H_
