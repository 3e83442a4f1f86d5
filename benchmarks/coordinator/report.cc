#include "benchmarks/coordinator/report.h"

#include <fmt/format.h>

namespace warpsmith::bench {
namespace {

std::string ShownCosts(const Costs& costs) {
  std::string text = fmt::format(
      "    a result: {:.0f} us of CPU in the coordinator, {:.0f} in PostgreSQL, {:.0f} in the load program; {:.0f} "
      "bytes of "
      "WAL,\n      {:.2f} dead tuples, {:.2f} commits; the coordinator has {:.0f} MB (at most {:.0f})\n",
      costs.coordinator_cpu_us, costs.database_cpu_us, costs.load_cpu_us, costs.wal_bytes, costs.dead_tuples,
      costs.commits, costs.coordinator_megabytes, costs.coordinator_peak_megabytes);
  text += fmt::format("    {:<12} {:>11} {:>9} {:>12} {:>7} {:>10} {:>10}\n", "table", "live", "dead", "updated",
                      "hot %", "table MB", "index MB");
  for (const TableFigures& table : costs.tables) {
    text += fmt::format(
        "    {:<12} {:>11} {:>9} {:>12} {:>7.0f} {:>10.1f} {:>10.1f}\n", table.name, table.live, table.dead,
        table.updated,
        table.updated > 0 ? 100.0 * static_cast<double>(table.hot) / static_cast<double>(table.updated) : 0.0,
        1e-6 * static_cast<double>(table.table_bytes), 1e-6 * static_cast<double>(table.index_bytes));
  }
  return text;
}

std::string Goal(bool met) { return met ? "met" : "MISSED"; }

Json ToldCosts(const Costs& costs) {
  Json tables = Json::object();
  for (const TableFigures& table : costs.tables) {
    tables[table.name] = {{"live", table.live},         {"dead", table.dead},
                          {"updated", table.updated},   {"hot_updated", table.hot},
                          {"deleted", table.deleted},   {"inserted", table.inserted},
                          {"bytes", table.table_bytes}, {"index_bytes", table.index_bytes}};
  }
  return {{"coordinator_cpu_us", costs.coordinator_cpu_us},
          {"database_cpu_us", costs.database_cpu_us},
          {"load_cpu_us", costs.load_cpu_us},
          {"wal_bytes", costs.wal_bytes},
          {"dead_tuples", costs.dead_tuples},
          {"commits", costs.commits},
          {"coordinator_mb", costs.coordinator_megabytes},
          {"coordinator_peak_mb", costs.coordinator_peak_megabytes},
          {"tables", tables}};
}

}  // namespace

std::string Shown(const Throughput& throughput) {
  return fmt::format(
             "    {:.0f} fenced results/s over {:.0f} s (goal 5000: {}); slowest 5 s: {:.0f}/s; {} refused as stale; "
             "{} "
             "tasks were put in meanwhile\n",
             throughput.per_second(), throughput.seconds, Goal(throughput.per_second() >= 5000),
             throughput.slowest_per_second, throughput.refused, throughput.put_in_meanwhile) +
         ShownCosts(throughput.costs);
}

std::string Shown(const Latency& latency) {
  if (latency.tasks == 0) {
    return fmt::format("    none of {} tasks was started in time (goal p99 under 50 ms: MISSED)\n",
                       latency.never_started) +
           ShownCosts(latency.costs);
  }
  return fmt::format(
             "    insert to start at the worker, {:.0f} tasks/s over {:.0f} s: p50 {:.1f} ms, p99 {:.1f} ms (goal "
             "under "
             "50: {}), longest {:.1f} ms; {} never started\n",
             latency.per_second, latency.seconds, latency.p50_ms, latency.p99_ms,
             Goal(latency.p99_ms < 50 && latency.never_started == 0), latency.max_ms, latency.never_started) +
         ShownCosts(latency.costs);
}

std::string Shown(const Kill& kill) {
  return fmt::format(
      "    {} tasks were in hand; {} were done again and recorded once; longest from a lease's end to the record: "
      "{:.2f} "
      "s (goal 10: {})\n",
      kill.held, kill.recorded_once, kill.longest_after_lease,
      Goal(kill.recorded_once == kill.held && kill.held > 0 && kill.longest_after_lease < 10));
}

std::string Shown(const Replay& replay) {
  return fmt::format(
             "    {} of {} searches done, {} failed, in {:.1f} s: {} candidates, {} evaluated ({:.0f}/s), {} answers "
             "of the "
             "fake gateway\n    insert to start at the worker: p50 {:.1f} ms, p99 {:.1f} ms, longest {:.1f} ms\n",
             replay.done, replay.searches, replay.failed, replay.seconds, replay.candidates, replay.evaluated,
             static_cast<double>(replay.evaluated) / replay.seconds, replay.model_calls, replay.latency.p50_ms,
             replay.latency.p99_ms, replay.latency.max_ms) +
         ShownCosts(replay.costs);
}

std::string Shown(const Wrong& wrong) {
  return fmt::format("    lost {}, doubled {}, recorded without being done {}, still running {}{}\n", wrong.lost,
                     wrong.doubled, wrong.early, wrong.running, wrong.any() ? "   WRONG" : "");
}

std::string Peers() {
  return "Peers, measured ELSEWHERE on 2026-11-29: another 2-core machine, PostgreSQL 15 with default settings, "
         "trivial\n"
         "jobs, no network between, nothing stored but the job's end. Not measured in this run.\n"
         "    graphile-worker 0.18: 39,200 jobs/s completed in batches, 2,880 one by one; insert to start at 100 "
         "jobs/s\n"
         "      p50 2.2 ms, p99 5.7 ms; after kill -9 its jobs in hand stay locked for 4 hours\n"
         "    pg-boss 12.38: 28,200 jobs/s in batches, 1,010 one by one; p50 2.9 ms, p99 7.1 ms; after kill -9 901 s\n"
         "      by default, 10.4 s with its shortest supervision, and up to 100 jobs ran twice\n";
}

Json Told(const Throughput& throughput) {
  return {{"seconds", throughput.seconds},         {"results", throughput.results},
          {"per_second", throughput.per_second()}, {"slowest_per_second", throughput.slowest_per_second},
          {"refused", throughput.refused},         {"put_in_meanwhile", throughput.put_in_meanwhile},
          {"costs", ToldCosts(throughput.costs)}};
}

Json Told(const Latency& latency) {
  return {{"seconds", latency.seconds}, {"per_second", latency.per_second},
          {"tasks", latency.tasks},     {"never_started", latency.never_started},
          {"p50_ms", latency.p50_ms},   {"p99_ms", latency.p99_ms},
          {"max_ms", latency.max_ms},   {"costs", ToldCosts(latency.costs)}};
}

Json Told(const Kill& kill) {
  return {{"held", kill.held},
          {"recorded_once", kill.recorded_once},
          {"lease_seconds", kill.lease_seconds},
          {"longest_after_lease_seconds", kill.longest_after_lease}};
}

Json Told(const Replay& replay) {
  return {{"searches", replay.searches},     {"done", replay.done},
          {"failed", replay.failed},         {"candidates", replay.candidates},
          {"evaluated", replay.evaluated},   {"model_calls", replay.model_calls},
          {"seconds", replay.seconds},       {"p50_ms", replay.latency.p50_ms},
          {"p99_ms", replay.latency.p99_ms}, {"max_ms", replay.latency.max_ms},
          {"costs", ToldCosts(replay.costs)}};
}

Json Told(const Wrong& wrong) {
  return {{"lost", wrong.lost}, {"doubled", wrong.doubled}, {"early", wrong.early}, {"running", wrong.running}};
}

}  // namespace warpsmith::bench
