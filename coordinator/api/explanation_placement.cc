#include "coordinator/api/explanation_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "coordinator/batch/batch_records.h"
#include "coordinator/search/settings.h"
#include "coordinator/store/budgets.h"

namespace warpsmith::api {
namespace {

constexpr double kBusySeconds = 30;  // a wait for busy workers that is worth telling

std::string Gibibytes(int64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30)); }

std::string Count(int count, const std::string& kind) {
  const std::string noun = kind == "intake" ? "intake" : "evaluation";
  return count == 1 ? "1 " + noun + " needs" : fmt::format("{} {}s need", count, noun);
}

std::string ClassesOf(const std::vector<PlaceableWorker>& workers) {
  std::set<std::string> classes;
  for (const PlaceableWorker& worker : workers) classes.insert(worker.device_class);
  return fmt::format("{}", fmt::join(classes, ", "));
}

// Why no connected worker takes these; empty: one will.
std::string Obstacle(const WaitingTasks& tasks, const std::vector<PlaceableWorker>& workers) {
  const std::string head = Count(tasks.count, tasks.kind);
  if (workers.empty()) {
    return fmt::format(
        "{} a worker and none is connected; start warpsmith-worker on a machine that reaches this "
        "coordinator.",
        head);
  }
  std::vector<PlaceableWorker> fitting;
  std::copy_if(workers.begin(), workers.end(), std::back_inserter(fitting), [&](const PlaceableWorker& worker) {
    return tasks.device_class.empty() || worker.device_class == tasks.device_class;
  });
  const std::string of_class = tasks.device_class.empty() ? "" : fmt::format(" of class {}", tasks.device_class);
  if (fitting.empty()) {
    return fmt::format(
        "{} a device{} and no worker with one is connected (there are: {}); start one, or submit the "
        "problem with another --device-class.",
        head, of_class, ClassesOf(workers));
  }
  int64_t largest = 0;
  for (const PlaceableWorker& worker : fitting) largest = std::max(largest, worker.memory_bytes);
  std::erase_if(fitting, [&](const PlaceableWorker& worker) {
    return worker.memory_bytes > 0 && worker.memory_bytes < tasks.bytes_min;
  });
  if (fitting.empty()) {
    return fmt::format(
        "{} {} of device memory and the largest device{} has {}; start a worker with more memory, or "
        "submit the problem with smaller sizes.",
        head, Gibibytes(tasks.bytes_min), of_class, Gibibytes(largest));
  }
  if (std::all_of(fitting.begin(), fitting.end(), [](const PlaceableWorker& worker) { return worker.draining; })) {
    return fmt::format(
        "{} a device{} and every worker that has one drains: it takes nothing new. Start another "
        "worker, or end the drain.",
        head, of_class);
  }
  const bool all_busy = std::all_of(fitting.begin(), fitting.end(),
                                    [](const PlaceableWorker& worker) { return worker.draining || worker.busy; });
  if (all_busy && tasks.oldest_seconds > kBusySeconds) {
    return fmt::format(
        "{} a device{} and all {} that can take them are busy, the oldest for {:.0f} s; more workers, "
        "or a higher priority of the batch, would help.",
        head, of_class, fitting.size(), tasks.oldest_seconds);
  }
  return "";
}

}  // namespace

absl::StatusOr<PlacementView> ReadPlacement(store::Transaction& transaction, const store::SearchRecord& search,
                                            const engine::EngineSettings& settings, const std::string& day) {
  PlacementView view;
  view.paused = search.paused;
  view.admitted = search.admitted;
  view.owner = search.owner;
  view.quota = settings.max_searches_per_owner;
  view.max_day_usd = settings.max_usd_per_day;
  const auto values = search::ResolveSettings(search.settings);
  view.round = search.round;
  view.rounds = values.ok() ? values->rounds : 0;
  if (!search.batch_id.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const batch::BatchRecord batch, batch::GetBatch(transaction, search.batch_id));
    view.batch_id = batch.id;
    view.batch_name = batch.name;
    view.parallel = batch.limits.parallel();
    view.waits_for_round = search.state == v1::SEARCH_STATE_RUNNING && search.round > search.granted_rounds &&
                           search.round <= view.rounds && search.stop_reason.empty();
  }
  if (view.quota > 0) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet active, transaction.Execute("batch_owner_active", {view.owner}));
    view.owner_active = static_cast<int>(active[0].Int("count"));
  }
  if (view.max_day_usd > 0) {
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::Budget> budgets, store::GetBudgets(transaction, "", day, ""));
    for (const store::Budget& budget : budgets) view.day_usd = budget.used_usd + budget.reserved_usd;
    // A call that does not fit any more waits with this reason.
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet errors, transaction.Execute("task_last_error", {search.id}));
    view.day_spent = view.day_usd >= view.max_day_usd;
    for (const store::Row row : errors) {
      view.day_spent = view.day_spent || row.Text("last_error").rfind("today's budget", 0) == 0;
    }
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet waiting, transaction.Execute("task_waiting_needs", {search.id}));
  for (const store::Row row : waiting) {
    view.waiting.push_back({row.Text("kind"), row.Text("device_class"), row.Int("bytes_min"), row.Bool("held"),
                            static_cast<int>(row.Int("count")), row.Double("oldest")});
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet workers, transaction.Execute("placement_workers", {}));
  for (const store::Row row : workers) {
    v1::DeviceDescription device;
    device.ParseFromString(row.Blob("device"));
    view.workers.push_back(
        {device.device_class(), device.memory_bytes(), row.Bool("draining"), row.Int("running") >= row.Int("slots")});
  }
  return view;
}

std::vector<std::string> PlacementFindings(const PlacementView& view) {
  std::vector<std::string> findings;
  if (view.paused) {
    findings.push_back(fmt::format("Its batch {} is paused: nothing new is begun. `warpsmith batch resume {}` goes on.",
                                   view.batch_name, view.batch_id.substr(0, 8)));
  }
  if (!view.admitted) {
    if (view.quota > 0 && view.owner_active >= view.quota) {
      findings.push_back(
          fmt::format("It waits for its owner's quota: {} has {} searches under way, and the coordinator "
                      "allows {} (--max-searches-per-owner).",
                      view.owner.empty() ? "nobody in particular" : view.owner, view.owner_active, view.quota));
    } else {
      findings.push_back(fmt::format("It waits for a place in its batch {}{}; first rounds are handed out in order.",
                                     view.batch_name,
                                     view.parallel > 0 ? fmt::format(", which searches {} problems at once (`warpsmith "
                                                                     "batch set {} --parallel N`)",
                                                                     view.parallel, view.batch_id.substr(0, 8))
                                                       : ""));
    }
  }
  if (view.waits_for_round && !view.paused) {
    findings.push_back(
        fmt::format("It waits to begin round {} of {}: its batch {} gives places to the problems that gain most from "
                    "another round.",
                    view.round, view.rounds, view.batch_name));
  }
  if (view.day_spent) {
    findings.push_back(
        fmt::format("The budget of the day for models is used up (${:.2f} of ${:.2f}): calls go on after "
                    "midnight UTC, or with a larger --max-usd-per-day.",
                    view.day_usd, view.max_day_usd));
  }
  for (const WaitingTasks& tasks : view.waiting) {
    if (tasks.held || (tasks.kind != "intake" && tasks.kind != "evaluate")) continue;
    if (std::string obstacle = Obstacle(tasks, view.workers); !obstacle.empty()) findings.push_back(obstacle);
  }
  return findings;
}

}  // namespace warpsmith::api
