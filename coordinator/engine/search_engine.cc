#include "coordinator/engine/search_engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "coordinator/bank/admission.h"
#include "coordinator/bank/verify_strategy.h"
#include "coordinator/engine/batch_share.h"
#include "coordinator/engine/snapshot_builder.h"
#include "coordinator/search/batch_allocation.h"
#include "coordinator/search/decision.h"

namespace warpsmith::engine {
namespace {

// More decisions in a row than any strategy needs; the rest waits for the next tick, so one search cannot starve
// others.
constexpr int kStepsInARow = 50;
constexpr int kTickPause = 4;  // times as long as a tick took

// Verifications are the bank's own; no search that is submitted has their strategy.
absl::StatusOr<std::unique_ptr<search::Strategy>> StrategyOf(const store::SearchRecord& record) {
  if (record.strategy == bank::kVerifyStrategy) return std::make_unique<bank::VerifyStrategy>();
  return search::MakeStrategy(record.strategy);
}

}  // namespace

SearchEngine::SearchEngine(store::Database& database, queue::TaskQueue& queue, const EngineSettings& settings,
                           Signals& signals, Clock& clock)
    : database_(database), settings_(settings), signals_(signals), clock_(clock), executor_(queue, settings) {}

SearchEngine::~SearchEngine() { Stop(); }

void SearchEngine::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void SearchEngine::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SearchEngine::MarkChanged(const std::string& search_id) {
  {
    std::lock_guard lock(mutex_);
    changed_.insert(search_id);
  }
  wake_.notify_all();
}

absl::Status SearchEngine::MakePlan(store::Transaction& transaction, const std::string& search_id, bool to_look,
                                    Plan* plan) {
  *plan = {};
  WARPSMITH_ASSIGN_OR_RETURN(plan->record, store::GetSearch(transaction, search_id));
  const store::SearchRecord& record = plan->record;
  if (record.state != v1::SEARCH_STATE_RUNNING || record.paused) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<search::Strategy> strategy, StrategyOf(record));
  WARPSMITH_ASSIGN_OR_RETURN(search::Snapshot snapshot, BuildSnapshot(transaction, record));
  WARPSMITH_ASSIGN_OR_RETURN(const search::Capacity capacity, ShareGpuTime(transaction, record, to_look, &snapshot));
  plan->now_us = clock_.WallMicros();
  plan->actions = strategy->Next(snapshot, static_cast<uint64_t>(record.decision_seq),
                                 static_cast<uint64_t>(record.seed), plan->now_us, capacity);
  // A search of a batch waits between two rounds until the batch grants it the next one.
  if (!record.batch_id.empty()) plan->actions = search::WithinRounds(std::move(plan->actions), record.granted_rounds);
  if (!to_look && !plan->actions.empty()) plan->snapshot_hash = search::SnapshotHash(snapshot);
  return absl::OkStatus();
}

absl::StatusOr<bool> SearchEngine::Step(const std::string& search_id) {
  Plan plan;
  WARPSMITH_RETURN_IF_ERROR(database_.Read(
      [&](store::Transaction& transaction) -> absl::Status { return MakePlan(transaction, search_id, true, &plan); }));
  if (plan.actions.empty()) return false;
  bool decided = false;
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    decided = false;
    cancelled.clear();
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {search_id}).status());
    WARPSMITH_RETURN_IF_ERROR(MakePlan(transaction, search_id, false, &plan));
    if (plan.actions.empty()) return absl::OkStatus();
    const store::SearchRecord& record = plan.record;
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("decision_insert", {search_id, record.decision_seq, record.strategy, plan.snapshot_hash,
                                         record.seed, plan.now_us, search::ActionsToJson(plan.actions)})
            .status());
    WARPSMITH_RETURN_IF_ERROR(executor_.Execute(transaction, record, plan.actions, plan.now_us, &cancelled));
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet counted,
                               transaction.Execute("search_next_decision", {search_id, record.decision_seq}));
    if (counted.empty()) return Internal("the decision's number was taken by another transaction");
    decided = true;
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
  return decided;
}

void SearchEngine::Advance(const std::string& search_id) {
  for (int step = 0; step < kStepsInARow; ++step) {
    auto decided = Step(search_id);
    if (!decided.ok()) {
      // The tick comes back to it; nothing was written.
      spdlog::warn("search {}: no decision now: {}", search_id, Message(decided.status()));
      return;
    }
    if (!*decided) return;
    signals_.TasksAdded();
    signals_.SearchChanged(search_id);
  }
}

void SearchEngine::Loop() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const auto wait = std::max(Duration::zero(), next_tick_ - clock_.Now());
      wake_.wait_for(lock, wait, [this] { return stopping_ || !changed_.empty(); });
      if (stopping_) return;
    }
    Turn();
  }
}

void SearchEngine::Turn() {
  std::set<std::string> todo;
  {
    std::lock_guard lock(mutex_);
    todo.swap(changed_);
  }
  const TimePoint begin = clock_.Now();
  const bool tick = begin >= next_tick_;
  if (tick) {
    absl::Status status = database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("search_running", {}));
      for (const store::Row row : rows) todo.insert(row.Text("id"));
      return absl::OkStatus();
    });
    if (!status.ok()) spdlog::warn("cannot read the searches: {}", Message(status));
  }
  for (const std::string& search_id : todo) Advance(search_id);
  // Most of the time is for searches that changed, however many there are to look at.
  if (tick) {
    next_tick_ = begin + std::max(FromSeconds(settings_.tick_seconds), kTickPause * (clock_.Now() - begin));
  }
}

}  // namespace warpsmith::engine
