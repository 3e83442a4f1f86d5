#include "coordinator/batch/batch_scheduler.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "coordinator/engine/batch_share.h"
#include "coordinator/engine/snapshot_builder.h"
#include "coordinator/search/settings.h"
#include "coordinator/store/records.h"

namespace warpsmith::batch {
namespace {

// Changes come in thousands a second; a round is worth waiting a part of a tick for.
constexpr double kLeastTicksBetween = 0.25;

const char* TextOf(const std::string& reason) {
  if (reason == "roofline") return "its best kernel is at the device's limits";
  if (reason == "no_gain") return "its last rounds gained nothing";
  if (reason == "no_kernel") return "it has no valid kernel after all the rounds that are set aside for such problems";
  return "the batch's budget is spent";
}

}  // namespace

BatchScheduler::~BatchScheduler() { Stop(); }

void BatchScheduler::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void BatchScheduler::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BatchScheduler::Wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

void BatchScheduler::Loop() {
  const Duration tick = FromSeconds(context_.executor.settings().tick_seconds);
  const Duration pause = FromSeconds(context_.executor.settings().tick_seconds * kLeastTicksBetween);
  while (true) {
    Turn();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause, [this] { return stopping_; });
    wake_.wait_for(lock, tick, [this] { return stopping_ || woken_; });
    if (stopping_) return;
    woken_ = false;
  }
}

void BatchScheduler::Turn() {
  std::vector<std::string> active;
  absl::Status status = context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
    active.clear();
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_active", {}));
    for (const store::Row row : rows) active.push_back(row.Text("id"));
    return absl::OkStatus();
  });
  if (status.ok()) status = AdmitSingles();
  if (!status.ok()) {
    spdlog::warn("batches wait: {}", Message(status));
    return;
  }
  for (const std::string& id : active) {
    // What could not be written now is found again by the next pass.
    if (absl::Status one = Schedule(id); !one.ok()) spdlog::warn("batch {} waits: {}", id, Message(one));
  }
}

void BatchScheduler::Tell(const Changes& changes) {
  if (!changes.cancelled.empty()) context_.signals.TasksCancelled(changes.cancelled);
  if (changes.searches.empty()) return;
  context_.signals.TasksAdded();
  for (const std::string& id : changes.searches) context_.signals.SearchChanged(id);
}

absl::Status BatchScheduler::Schedule(const std::string& batch_id) {
  Changes changes;
  bool cancelled = false;
  absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
    changes = {};
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_lock", {batch_id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const BatchRecord record, GetBatch(transaction, batch_id));
    cancelled = record.state == "cancelled";
    if (record.state != "running" || record.paused) return absl::OkStatus();
    return ScheduleIn(transaction, record, &changes);
  });
  if (!status.ok()) return status;
  Tell(changes);
  return cancelled ? EndCancelled(context_, batch_id) : absl::OkStatus();
}

absl::Status BatchScheduler::ScheduleIn(store::Transaction& transaction, const BatchRecord& record, Changes* changes) {
  WARPSMITH_ASSIGN_OR_RETURN(search::BatchView view, View(transaction, record));
  const search::Allocation allocation = search::Allocate(view, rules_);
  const bool over = std::all_of(view.problems.begin(), view.problems.end(), [](const search::ProblemView& problem) {
    return problem.state == search::ProblemState::kEnded;
  });
  if (over) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet open, transaction.Execute("batch_open_searches", {record.id}));
    if (open.empty()) return transaction.Execute("batch_set_state", {record.id, "done"}).status();
    return absl::OkStatus();
  }
  // Searches are changed in the order of their ids, as everywhere.
  std::sort(view.problems.begin(), view.problems.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const search::ProblemView& problem : view.problems) {
    const auto& begin = allocation.begin;
    if (std::find(begin.begin(), begin.end(), problem.id) != begin.end()) {
      WARPSMITH_RETURN_IF_ERROR(Begin(transaction, problem, problem.rounds_granted + 1, changes));
    }
    for (const search::StoppedProblem& stopped : allocation.stop) {
      if (stopped.id != problem.id) continue;
      WARPSMITH_RETURN_IF_ERROR(StopSearch(transaction, problem, stopped.reason, changes));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> BatchScheduler::PlacesOf(store::Transaction& transaction, const std::string& owner) {
  const int quota = context_.executor.settings().max_searches_per_owner;
  if (quota == 0) return std::numeric_limits<int>::max();
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_owner_active", {owner}));
  return std::max(0, quota - static_cast<int>(rows[0].Int("count")));
}

absl::StatusOr<search::BatchView> BatchScheduler::View(store::Transaction& transaction, const BatchRecord& record) {
  search::BatchView view;
  view.limited = record.limited();
  view.spent = (record.limits.max_usd() > 0 && record.used_usd >= record.limits.max_usd()) ||
               (record.limits.max_tokens() > 0 && record.used_tokens >= record.limits.max_tokens());
  bool no_room = false;  // what is under way may take all GPU time that is left
  if (const double most = record.limits.max_gpu_hours() * 3600; most > 0) {
    WARPSMITH_ASSIGN_OR_RETURN(const engine::GpuUse use, engine::GetGpuUse(transaction, record.id, ""));
    view.spent = view.spent || use.SpentForAll(most);
    no_room = use.FullForAll(most);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_schedule", {record.id}));
  int active = 0;
  bool refused = false;
  std::vector<std::string> waiting;
  for (const store::Row row : rows) {
    search::ProblemView& problem = view.problems.emplace_back();
    problem.id = row.Text("id");
    v1::SearchSettings settings;
    settings.ParseFromString(row.Blob("settings"));
    const auto values = search::ResolveSettings(settings);
    const int rounds = values.ok() ? values->rounds : 0;
    const int round = static_cast<int>(row.Int("round"));
    problem.rounds_granted = static_cast<int>(row.Int("granted_rounds"));
    problem.reserve_rounds = static_cast<int>(row.Int("reserve_rounds"));
    problem.stop_at_share = values.ok() ? values->stop_at_roofline_share : 0;
    problem.stop_after_rounds_without_gain = settings.stop_after_rounds_without_gain();
    // A search without limits of its own whose calls were refused for good met the batch's.
    refused = refused || (row.Bool("spent") && settings.max_usd() == 0 && settings.max_tokens() == 0);
    const std::string state = row.Text("state");
    if (state == "intake") {
      problem.state = row.Bool("admitted") ? search::ProblemState::kActive : search::ProblemState::kNew;
    } else if (state != "running" || round > rounds || !row.Text("stop_reason").empty()) {
      problem.state = search::ProblemState::kEnded;  // or about to
    } else if (round <= problem.rounds_granted) {
      problem.state = search::ProblemState::kActive;
    } else {
      problem.state = search::ProblemState::kWaiting;
      // An operator's idea or kernel may have filled a round that was not granted.
      problem.rounds_granted = std::max(problem.rounds_granted, round - 1);
      problem.best.assign(static_cast<size_t>(round - 1), 0);
      waiting.push_back(problem.id);
      if (const std::string best = row.Text("best_candidate_id"); !best.empty() && !row.Bool("emulated")) {
        WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet bodies, transaction.Execute("batch_evaluation_of", {best}));
        v1::Evaluation evaluation;
        if (!bodies.empty() && evaluation.ParseFromString(bodies[0].Blob("body"))) {
          problem.floor_share = engine::RooflineShare(evaluation);
          problem.roofline_share = std::max(problem.floor_share, evaluation.profile().roofline().share());
        }
      }
    }
    active += problem.state == search::ProblemState::kActive ? 1 : 0;
  }
  const bool money_limited = record.limits.max_usd() > 0 || record.limits.max_tokens() > 0;
  view.spent = view.spent || (refused && money_limited && record.reserved_usd == 0);

  if (!waiting.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet bests, transaction.Execute("batch_round_bests", {waiting}));
    std::map<std::string, search::ProblemView*> by_id;
    for (search::ProblemView& problem : view.problems) by_id[problem.id] = &problem;
    for (const store::Row row : bests) {
      std::vector<double>& best = by_id.at(row.Text("search_id"))->best;
      const double time = std::exp(-row.Double("log_ratio"));
      // What comes late belongs to its own round, and is the best of all that follow.
      for (auto round = static_cast<size_t>(std::max<int64_t>(1, row.Int("round"))); round <= best.size(); ++round) {
        double& known = best[round - 1];
        known = known > 0 ? std::min(known, time) : time;
      }
    }
  }
  WARPSMITH_ASSIGN_OR_RETURN(const int allowed, PlacesOf(transaction, record.owner));
  const int most = record.limits.parallel() > 0 ? record.limits.parallel() : static_cast<int>(view.problems.size());
  view.places = no_room ? 0 : std::min(std::max(0, most - active), allowed);
  return view;
}

absl::Status BatchScheduler::Begin(store::Transaction& transaction, const search::ProblemView& problem, int round,
                                   Changes* changes) {
  const bool first = problem.state == search::ProblemState::kNew;
  absl::StatusOr<store::ResultSet> begun = store::ResultSet();
  if (first) {
    begun = transaction.Execute("batch_admit", {problem.id, 1});
  } else {
    const bool reserve = problem.best.empty() || problem.best.back() == 0;
    begun = transaction.Execute("batch_grant", {problem.id, round, reserve ? 1 : 0});
  }
  if (!begun.ok()) return begun.status();
  if (begun->empty()) return absl::OkStatus();  // it ended a moment ago
  changes->searches.push_back(problem.id);
  if (first) return transaction.Execute("task_hold_of_search", {problem.id}).status();
  return transaction.Execute("batch_restart_round", {problem.id, round}).status();
}

absl::Status BatchScheduler::StopSearch(store::Transaction& transaction, const search::ProblemView& problem,
                                        const std::string& reason, Changes* changes) {
  if (problem.state == search::ProblemState::kNew) {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {problem.id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, problem.id));
    WARPSMITH_RETURN_IF_ERROR(context_.executor
                                  .End(transaction, search, v1::SEARCH_STATE_DONE, reason, "",
                                       context_.clock.WallMicros(), &changes->cancelled)
                                  .status());
    changes->searches.push_back(problem.id);
    return absl::OkStatus();
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet stopped,
                             transaction.Execute("batch_stop_search", {problem.id, reason}));
  if (stopped.empty()) return absl::OkStatus();
  changes->searches.push_back(problem.id);
  return store::AddEvent(transaction, problem.id, fmt::format("its batch ends it: {}", TextOf(reason)));
}

absl::Status BatchScheduler::AdmitSingles() {
  Changes changes;
  std::vector<std::pair<std::string, std::string>> waiting;
  WARPSMITH_RETURN_IF_ERROR(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
    waiting.clear();
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_waiting_singles", {}));
    for (const store::Row row : rows) waiting.emplace_back(row.Text("id"), row.Text("owner"));
    return absl::OkStatus();
  }));
  std::map<std::string, bool> full;
  for (const auto& [id, owner] : waiting) {
    if (full[owner]) continue;
    absl::Status status =
        context_.database.Write([&, &search = id, &of = owner](store::Transaction& transaction) -> absl::Status {
          changes = {};
          WARPSMITH_ASSIGN_OR_RETURN(const int places, PlacesOf(transaction, of));
          full[of] = places == 0;
          if (places == 0) return absl::OkStatus();
          WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet admitted, transaction.Execute("batch_admit", {search, 0}));
          if (admitted.empty()) return absl::OkStatus();
          changes.searches.push_back(search);
          return transaction.Execute("task_hold_of_search", {search}).status();
        });
    if (!status.ok()) return status;
    Tell(changes);
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::batch
