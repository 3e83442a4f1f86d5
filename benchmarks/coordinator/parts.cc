#include "benchmarks/coordinator/parts.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "benchmarks/coordinator/submit.h"
#include "common/clock.h"

namespace warpsmith::bench {
namespace {

constexpr double kSpan = 5;
constexpr double kMostExpected = 6500;  // results a second
constexpr size_t kTablesShown = 8;      // the largest
constexpr int64_t kFirstFill = 400'000;
constexpr int64_t kFewWaiting = 40'000;
constexpr int64_t kMoreWaiting = 20'000;

double SecondsSince(TimePoint start) { return ToSeconds(RealClock().Now() - start); }

template <typename Holds>
bool WaitFor(double seconds, Holds holds) {
  const TimePoint start = RealClock().Now();
  while (!holds()) {
    if (SecondsSince(start) > seconds) return false;
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  return true;
}

int64_t DeadMade(const Figures& figures) {
  int64_t dead = 0;
  for (const TableFigures& table : figures.tables) dead += table.updated + table.deleted;
  return dead;
}

Costs CostsOf(const Figures& before, const Figures& after, int64_t results) {
  const auto each = static_cast<double>(std::max<int64_t>(1, results));
  Costs costs;
  costs.coordinator_cpu_us = 1e6 * (after.coordinator_cpu_seconds - before.coordinator_cpu_seconds) / each;
  costs.database_cpu_us = 1e6 * (after.database_cpu_seconds - before.database_cpu_seconds) / each;
  costs.load_cpu_us = 1e6 * (after.load_cpu_seconds - before.load_cpu_seconds) / each;
  costs.wal_bytes = static_cast<double>(after.wal_bytes - before.wal_bytes) / each;
  costs.dead_tuples = static_cast<double>(DeadMade(after) - DeadMade(before)) / each;
  costs.commits = static_cast<double>(after.commits - before.commits) / each;
  costs.coordinator_megabytes = after.coordinator_megabytes;
  costs.coordinator_peak_megabytes = after.coordinator_peak_megabytes;
  costs.tables = after.tables;
  if (costs.tables.size() > kTablesShown) costs.tables.resize(kTablesShown);
  return costs;
}

// Backends hand their counts on within a second of their last transaction.
absl::StatusOr<Figures> ReadSettled(ServerUnderTest& server) {
  RealClock().SleepFor(std::chrono::milliseconds(1200));
  return server.Read();
}

// No tasks waiting and none in hand.
absl::Status Empty(Bench& bench) {
  bench.fleet.SetDraining(true);
  // Tasks that were handed out while the fleet's word was on its way come back within a lease.
  const bool empty = WaitFor(40, [&] { return bench.fleet.InHand() == 0; });
  WARPSMITH_RETURN_IF_ERROR(bench.server.Execute("bench_drop_waiting", {}).status());
  if (!empty) return DeadlineExceeded(fmt::format("{} tasks stay in workers' hands", bench.fleet.InHand()));
  return absl::OkStatus();
}

// `latencies` in ms.
void Summarize(std::vector<double> latencies, Latency* latency) {
  latency->tasks = static_cast<int64_t>(latencies.size());
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](double share) {
    return latencies[std::min(latencies.size() - 1,
                              static_cast<size_t>(share * static_cast<double>(latencies.size())))];
  };
  latency->p50_ms = at(0.5);
  latency->p99_ms = at(0.99);
  latency->max_ms = latencies.back();
}

std::unordered_map<int64_t, int64_t> FirstStarts(WorkerFleet& fleet) {
  std::unordered_map<int64_t, int64_t> starts;
  for (const TaskStart& start : fleet.TakeStarts()) {
    const auto [at, added] = starts.emplace(start.task_id, start.micros);
    if (!added) at->second = std::min(at->second, start.micros);
  }
  return starts;
}

}  // namespace

absl::StatusOr<Throughput> MeasureThroughput(Bench& bench, double seconds, bool all_before) {
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  const FleetCounters& counters = bench.fleet.counters();
  const auto most = static_cast<int64_t>(seconds * kMostExpected);
  const int64_t first = all_before ? most : std::min(kFirstFill, most);
  const int64_t put_in_earlier = bench.feeder.waiting_put_in(), assigned_earlier = counters.assigned;
  bench.said(fmt::format("putting in {} tasks", first));
  WARPSMITH_RETURN_IF_ERROR(bench.feeder.FillWaiting(first).status());
  bench.server.Settle();
  Throughput result;
  bench.fleet.SetDraining(false);
  RealClock().SleepFor(FromSeconds(std::min(3.0, seconds / 4)));
  const int64_t put_in_before = bench.feeder.waiting_put_in();
  if (!all_before) {
    bench.feeder.KeepFull(kFewWaiting, kMoreWaiting, [&counters, put_in_earlier, assigned_earlier] {
      return put_in_earlier + counters.assigned - assigned_earlier;
    });
  }
  WARPSMITH_ASSIGN_OR_RETURN(const Figures before, bench.server.Read());
  const TimePoint start = RealClock().Now();
  const int64_t recorded_before = counters.recorded, refused_before = counters.refused;
  int64_t span_recorded = recorded_before;
  TimePoint span_start = start;
  result.slowest_per_second = 1e18;
  while (SecondsSince(start) < seconds) {
    RealClock().SleepFor(FromSeconds(std::min(kSpan, std::max(0.0, seconds - SecondsSince(start)))));
    const int64_t recorded = counters.recorded;
    const double span = SecondsSince(span_start);
    if (span < 0.5) continue;
    const double rate = static_cast<double>(recorded - span_recorded) / span;
    result.slowest_per_second = std::min(result.slowest_per_second, rate);
    bench.said(fmt::format("{:5.0f} s: {:7.0f} results/s", SecondsSince(start), rate));
    span_recorded = recorded;
    span_start = RealClock().Now();
  }
  result.seconds = SecondsSince(start);
  result.results = counters.recorded - recorded_before;
  result.refused = counters.refused - refused_before;
  WARPSMITH_ASSIGN_OR_RETURN(Figures after, bench.server.Read());
  bench.feeder.Stop();
  if (!bench.feeder.error().empty()) return Internal("putting in tasks: " + bench.feeder.error());
  result.put_in_meanwhile = bench.feeder.waiting_put_in() - put_in_before;
  result.costs = CostsOf(before, after, result.results);
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  return result;
}

absl::StatusOr<Latency> MeasureLatency(Bench& bench, double per_second, double seconds) {
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  bench.server.Settle();
  bench.fleet.SetDraining(false);
  RealClock().SleepFor(std::chrono::milliseconds(500));
  bench.fleet.TakeStarts();
  bench.fleet.SetKeepingStarts(true);
  bench.feeder.FeedSteadily(per_second);
  // What is put in while the caches are cold does not count.
  RealClock().SleepFor(FromSeconds(std::min(2.0, seconds / 4)));
  WARPSMITH_ASSIGN_OR_RETURN(const Figures before, bench.server.Read());
  const int64_t recorded_before = bench.fleet.counters().recorded;
  const TimePoint start = RealClock().Now();
  const int64_t from_us = RealClock().WallMicros();
  while (SecondsSince(start) < seconds) {
    RealClock().SleepFor(FromSeconds(std::min(kSpan, std::max(0.0, seconds - SecondsSince(start)))));
    bench.said(fmt::format("{:5.0f} s: {} tasks started", SecondsSince(start), bench.fleet.counters().assigned.load()));
  }
  const int64_t to_us = RealClock().WallMicros();
  Latency result;
  result.seconds = SecondsSince(start);
  const int64_t recorded = bench.fleet.counters().recorded - recorded_before;
  WARPSMITH_ASSIGN_OR_RETURN(const Figures after, bench.server.Read());
  bench.feeder.Stop();
  if (!bench.feeder.error().empty()) return Internal("putting in tasks: " + bench.feeder.error());
  RealClock().SleepFor(std::chrono::seconds(2));
  bench.fleet.SetKeepingStarts(false);
  const std::unordered_map<int64_t, int64_t> starts = FirstStarts(bench.fleet);
  std::vector<double> latencies;
  for (const auto& [id, put_in] : bench.feeder.TakePutIn()) {
    if (put_in < from_us || put_in > to_us) continue;
    const auto found = starts.find(id);
    if (found == starts.end()) {
      ++result.never_started;
    } else {
      latencies.push_back(1e-3 * static_cast<double>(found->second - put_in));
    }
  }
  Summarize(std::move(latencies), &result);
  result.per_second = static_cast<double>(result.tasks + result.never_started) / result.seconds;
  result.costs = CostsOf(before, after, recorded);
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  return result;
}

absl::StatusOr<Kill> MeasureKill(Bench& bench, const std::string& program) {
  constexpr int64_t kTasks = 64;
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  ChildOptions options;
  options.arguments = {program,     "--hold", "doomed",  "--address", bench.server.address(),
                       "--workers", "16",     "--slots", "4"};
  options.stderr_to_parent = true;
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> doomed, ChildProcess::Start(options));
  WARPSMITH_RETURN_IF_ERROR(doomed->ReadLine(std::chrono::seconds(60)).status());
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, bench.feeder.FillWaiting(kTasks));
  const TimePoint until = RealClock().Now() + std::chrono::seconds(60);
  std::string line;
  while (line != fmt::format("holding {}", kTasks)) {
    if (RealClock().Now() > until) return DeadlineExceeded("the doomed workers did not get their tasks: " + line);
    WARPSMITH_ASSIGN_OR_RETURN(line, doomed->ReadLine(std::chrono::seconds(60)));
  }
  // Long enough for leases to be renewed, so that they end at different times.
  RealClock().SleepFor(std::chrono::seconds(8));
  doomed->Kill(SIGKILL);
  const int64_t killed_us = RealClock().WallMicros();
  doomed->Wait(std::chrono::seconds(10));
  RealClock().SleepFor(std::chrono::milliseconds(200));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet held, bench.server.Execute("bench_held", {"doomed-%"}));
  bench.fleet.SetDraining(false);
  Kill result;
  result.held = static_cast<int64_t>(held.size());
  std::unordered_map<int64_t, int64_t> lease_ends;
  for (const store::Row row : held) {
    lease_ends[row.Int("id")] = row.Int("lease_us");
    result.lease_seconds = std::max(result.lease_seconds, 1e-6 * static_cast<double>(row.Int("lease_us") - killed_us));
  }
  bench.said(fmt::format("killed: {} tasks were in hand, their leases end within {:.1f} s", result.held,
                         result.lease_seconds));
  for (const TimePoint start = RealClock().Now(); SecondsSince(start) < result.lease_seconds + 30;) {
    RealClock().SleepFor(std::chrono::milliseconds(500));
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, bench.server.Execute("bench_recorded", {ids}));
    result.recorded_once = 0;
    result.longest_after_lease = 0;
    for (const store::Row row : rows) {
      if (row.Int("records") != 1 || row.Text("state") != "done") continue;
      ++result.recorded_once;
      const auto end = lease_ends.find(row.Int("id"));
      if (end == lease_ends.end()) continue;
      result.longest_after_lease =
          std::max(result.longest_after_lease, 1e-6 * static_cast<double>(row.Int("recorded_us") - end->second));
    }
    if (result.recorded_once == kTasks) break;
  }
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  return result;
}

absl::StatusOr<Replay> MeasureReplay(Bench& bench, int searches, const std::string& submitter,
                                     const std::function<int64_t()>& model_calls) {
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  Replay result;
  result.searches = searches;
  const int64_t calls_before = model_calls();
  const int64_t recorded_before = bench.fleet.counters().recorded;
  bench.fleet.TakeStarts();
  bench.fleet.SetKeepingStarts(true);
  bench.fleet.SetFetching(true);
  bench.fleet.SetDraining(false);
  WARPSMITH_ASSIGN_OR_RETURN(const Figures before, bench.server.Read());
  const TimePoint start = RealClock().Now();
  WARPSMITH_RETURN_IF_ERROR(SubmitSearches(bench.server.address(), searches, submitter));
  bench.said(fmt::format("{} searches submitted in {:.1f} s", searches, SecondsSince(start)));
  for (double next = kSpan; result.done + result.failed < searches;) {
    RealClock().SleepFor(std::chrono::milliseconds(500));
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, bench.server.Execute("bench_replay", {submitter}));
    result.done = rows[0].Int("done");
    result.failed = rows[0].Int("failed");
    result.candidates = rows[0].Int("candidates");
    result.evaluated = rows[0].Int("evaluated");
    result.seconds = SecondsSince(start);
    if (result.seconds < next) continue;
    next += kSpan;
    bench.said(fmt::format("{:5.0f} s: {} of {} searches done, {} candidates, {} evaluated", result.seconds,
                           result.done, searches, result.candidates, result.evaluated));
  }
  result.model_calls = model_calls() - calls_before;
  WARPSMITH_ASSIGN_OR_RETURN(const Figures after, ReadSettled(bench.server));
  bench.fleet.SetFetching(false);
  bench.fleet.SetKeepingStarts(false);
  result.costs = CostsOf(before, after, bench.fleet.counters().recorded - recorded_before);
  const std::unordered_map<int64_t, int64_t> starts = FirstStarts(bench.fleet);
  std::vector<double> latencies;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tasks, bench.server.Execute("bench_replay_tasks", {submitter}));
  for (const store::Row row : tasks) {
    const auto found = starts.find(row.Int("id"));
    if (found != starts.end()) latencies.push_back(1e-3 * static_cast<double>(found->second - row.Int("created_us")));
  }
  Summarize(std::move(latencies), &result.latency);
  WARPSMITH_RETURN_IF_ERROR(Empty(bench));
  return result;
}

absl::StatusOr<Wrong> CountWrong(Bench& bench) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, bench.server.Execute("bench_wrong", {}));
  return Wrong{rows[0].Int("lost"), rows[0].Int("doubled"), rows[0].Int("early"), rows[0].Int("running")};
}

}  // namespace warpsmith::bench
