// The benchmark's measurements, each on a coordinator and a fleet that stand.
// Threading: one thread. Units: seconds, milliseconds where a name says so, bytes.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_PARTS_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_PARTS_H_

#include <functional>
#include <string>

#include "benchmarks/coordinator/server_under_test.h"
#include "benchmarks/coordinator/task_feeder.h"
#include "benchmarks/coordinator/worker_fleet.h"

namespace warpsmith::bench {

using Progress = std::function<void(const std::string&)>;

struct Bench {
  ServerUnderTest& server;
  TaskFeeder& feeder;
  WorkerFleet& fleet;
  Progress said;
};

// What a result cost, over a measurement.
struct Costs {
  double coordinator_cpu_us = 0;
  double database_cpu_us = 0;
  double load_cpu_us = 0;
  double wal_bytes = 0;
  double dead_tuples = 0;
  double commits = 0;
  double coordinator_megabytes = 0;
  double coordinator_peak_megabytes = 0;
  std::vector<TableFigures> tables;
};

struct Throughput {
  double seconds = 0;
  int64_t results = 0;
  int64_t refused = 0;
  int64_t put_in_meanwhile = 0;
  double slowest_per_second = 0;  // of spans of five seconds
  Costs costs;
  double per_second() const { return seconds > 0 ? static_cast<double>(results) / seconds : 0; }
};

struct Latency {
  double seconds = 0;
  double per_second = 0;  // tasks put in
  int64_t tasks = 0;
  int64_t never_started = 0;
  double p50_ms = 0, p99_ms = 0, max_ms = 0;
  Costs costs;
};

struct Kill {
  int64_t held = 0;
  int64_t recorded_once = 0;
  double lease_seconds = 0;        // from the kill to the last lease's end
  double longest_after_lease = 0;  // from a lease's end to the record
};

struct Replay {
  int searches = 0;
  int64_t done = 0, failed = 0, candidates = 0, evaluated = 0, model_calls = 0;
  double seconds = 0;
  Latency latency;  // from the real way in: a model's reply
  Costs costs;
};

// All must be zero.
struct Wrong {
  int64_t lost = 0, doubled = 0, early = 0, running = 0;
  bool any() const { return lost != 0 || doubled != 0 || early != 0 || running != 0; }
};

// `all_before`: tasks are put in before the clock starts, as queues are measured elsewhere; else most are put in beside
// the workers' results, and PostgreSQL pays for both.
absl::StatusOr<Throughput> MeasureThroughput(Bench& bench, double seconds, bool all_before = false);
absl::StatusOr<Latency> MeasureLatency(Bench& bench, double per_second, double seconds);
// `program` is this one: it is started as the workers that die.
absl::StatusOr<Kill> MeasureKill(Bench& bench, const std::string& program);
// `submitter`: another one for each replay.
absl::StatusOr<Replay> MeasureReplay(Bench& bench, int searches, const std::string& submitter,
                                     const std::function<int64_t()>& model_calls);
absl::StatusOr<Wrong> CountWrong(Bench& bench);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_PARTS_H_
