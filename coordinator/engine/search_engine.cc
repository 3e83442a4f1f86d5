#include "coordinator/engine/search_engine.h"

#include <spdlog/spdlog.h>

#include "coordinator/engine/snapshot_builder.h"
#include "coordinator/search/decision.h"

namespace warpsmith::engine {
namespace {

// More decisions in a row than any strategy needs; the rest waits for the next tick, so one search cannot starve
// others.
constexpr int kStepsInARow = 50;

}  // namespace

SearchEngine::SearchEngine(store::Database& database, queue::TaskQueue& queue, const EngineSettings& settings,
                           Signals& signals, Clock& clock)
    : database_(database),
      queue_(queue),
      settings_(settings),
      signals_(signals),
      clock_(clock),
      executor_(queue, settings) {}

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

absl::StatusOr<bool> SearchEngine::Step(const std::string& search_id) {
  bool decided = false;
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    decided = false;
    cancelled.clear();
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {search_id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord record, store::GetSearch(transaction, search_id));
    if (record.state != v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
    WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<search::Strategy> strategy, search::MakeStrategy(record.strategy));
    WARPSMITH_ASSIGN_OR_RETURN(const search::Snapshot snapshot, BuildSnapshot(transaction, queue_, record));
    const int64_t now_us = clock_.WallMicros();
    const std::vector<search::Action> actions =
        strategy->Next(snapshot, static_cast<uint64_t>(record.decision_seq), static_cast<uint64_t>(record.seed), now_us,
                       search::Capacity());
    if (actions.empty()) return absl::OkStatus();
    WARPSMITH_RETURN_IF_ERROR(transaction
                                  .Execute("decision_insert", {search_id, record.decision_seq, record.strategy,
                                                               search::SnapshotHash(snapshot), record.seed, now_us,
                                                               search::ActionsToJson(actions)})
                                  .status());
    WARPSMITH_RETURN_IF_ERROR(executor_.Execute(transaction, record, actions, now_us, &cancelled));
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
  TimePoint next_tick = clock_.Now();
  while (true) {
    std::set<std::string> todo;
    {
      std::unique_lock lock(mutex_);
      const auto wait = std::max(Duration::zero(), next_tick - clock_.Now());
      wake_.wait_for(lock, wait, [this] { return stopping_ || !changed_.empty(); });
      if (stopping_) return;
      todo.swap(changed_);
    }
    if (clock_.Now() >= next_tick) {
      next_tick = clock_.Now() + FromSeconds(settings_.tick_seconds);
      absl::Status status = database_.Read([&](store::Transaction& transaction) -> absl::Status {
        WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("search_running", {}));
        for (const store::Row row : rows) todo.insert(row.Text("id"));
        return absl::OkStatus();
      });
      if (!status.ok()) spdlog::warn("cannot read the searches: {}", Message(status));
    }
    for (const std::string& search_id : todo) Advance(search_id);
  }
}

}  // namespace warpsmith::engine
