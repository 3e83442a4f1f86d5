#include "coordinator/engine/model_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "coordinator/store/budgets.h"

namespace warpsmith::engine {
namespace {

constexpr Duration kPoll = std::chrono::seconds(1);
constexpr Duration kDatabaseRetry = std::chrono::milliseconds(300);
constexpr double kLongestGatewayDelay = 15;

bool DatabaseAway(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsAborted(status);
}

}  // namespace

ModelRunner::ModelRunner(store::Database& database, queue::TaskQueue& queue, GatewayClient& gateway,
                         ResultRecorder& results, const EngineSettings& settings, Signals& signals, Clock& clock,
                         std::string boot_id)
    : database_(database),
      queue_(queue),
      gateway_(gateway),
      results_(results),
      replies_(database, queue, settings),
      directory_(gateway, clock),
      planner_(settings, clock),
      settings_(settings),
      signals_(signals),
      clock_(clock),
      owner_{queue::kCoordinatorWorker, std::move(boot_id)} {}

ModelRunner::~ModelRunner() { Stop(); }

void ModelRunner::Start() {
  for (int i = 0; i < std::max(1, settings_.model_threads); ++i) {
    threads_.emplace_back([this] { Loop(); });
  }
}

void ModelRunner::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  gateway_.Cancel(0);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ModelRunner::Wake() {
  {
    std::lock_guard lock(mutex_);
    ++wakes_;
  }
  wake_.notify_all();
}

void ModelRunner::Cancel(const std::vector<queue::CancelledTask>& tasks) {
  for (const queue::CancelledTask& task : tasks) {
    if (task.owner_worker == queue::kCoordinatorWorker) gateway_.Cancel(task.key.id);
  }
}

bool ModelRunner::stopping() {
  std::lock_guard lock(mutex_);
  return stopping_;
}

absl::Status ModelRunner::RenewLeases() {
  std::vector<queue::TaskKey> held;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, epoch] : in_hand_) held.push_back({id, epoch});
  }
  if (held.empty()) return absl::OkStatus();
  return database_.Write([&](store::Transaction& transaction) -> absl::Status {
    return queue_.Renew(transaction, owner_, held).status();
  });
}

void ModelRunner::Loop() {
  uint64_t seen = 0;
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      seen = wakes_;
    }
    if (RunOne()) continue;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kPoll, [&] { return stopping_ || wakes_ != seen; });
  }
}

bool ModelRunner::RunOne() {
  std::vector<queue::Task> claimed;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(
        claimed,
        queue_.Claim(transaction, owner_,
                     {queue::TaskKind::kPropose, queue::TaskKind::kImplement, queue::TaskKind::kRepair}, "", 1));
    // What an earlier holder left open is nobody's to settle any more.
    for (const queue::Task& task : claimed) {
      WARPSMITH_RETURN_IF_ERROR(store::AbandonReservationsOf(transaction, task.id));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    spdlog::debug("no model task could be claimed: {}", Message(status));
    return false;
  }
  if (claimed.empty()) return false;
  const queue::Task& task = claimed.front();
  {
    std::lock_guard lock(mutex_);
    in_hand_[task.id] = task.epoch;
  }
  Settle(task, Run(task));
  {
    std::lock_guard lock(mutex_);
    in_hand_.erase(task.id);
  }
  signals_.TasksAdded();
  signals_.SearchChanged(task.search_id);
  return true;
}

absl::Status ModelRunner::Persist(const std::function<absl::Status()>& write) {
  while (true) {
    absl::Status status = write();
    if (!DatabaseAway(status)) return status;
    if (stopping()) return Cancelled("the coordinator is shutting down");
    spdlog::warn("a model's reply waits for the database: {}", Message(status));
    clock_.SleepFor(kDatabaseRetry);
  }
}

absl::Status ModelRunner::Run(const queue::Task& task) {
  store::SearchRecord search;
  WARPSMITH_RETURN_IF_ERROR(Persist([&] {
    return database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(search, store::GetSearch(transaction, task.search_id));
      return absl::OkStatus();
    });
  }));
  switch (task.kind) {
    case queue::TaskKind::kPropose:
      return RunPropose(search, task);
    case queue::TaskKind::kImplement:
      return RunImplement(search, task);
    case queue::TaskKind::kRepair:
      return RunRepair(search, task);
    default:
      return Internal("the queue handed out a task that is not for models");
  }
}

void ModelRunner::Settle(const queue::Task& task, const absl::Status& status) {
  const queue::TaskKey key{task.id, task.epoch};
  if (!absl::IsUnavailable(status) && !absl::IsCancelled(status)) {
    std::lock_guard lock(mutex_);
    unreachable_ = 0;
  }
  if (status.ok()) return;
  std::vector<queue::CancelledTask> cancelled;
  const bool later = absl::IsUnavailable(status) || absl::IsCancelled(status);
  double delay = 0;
  bool first = false;
  if (absl::IsUnavailable(status)) {
    std::lock_guard lock(mutex_);
    first = unreachable_++ == 0;
    delay = std::min(kLongestGatewayDelay, 0.5 * (1 << std::min(unreachable_, 5)));
  }
  absl::Status settled = Persist([&] {
    cancelled.clear();
    return database_.Write([&](store::Transaction& transaction) -> absl::Status {
      cancelled.clear();
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {task.search_id}).status());
      if (later) {
        if (first) {
          WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, task.search_id, "waiting: " + Message(status)));
        }
        return queue_.Release(transaction, {key}, delay, Message(status));
      }
      WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> failed, queue_.Fail(transaction, key, Message(status)));
      for (const queue::Task& given_up : failed) {
        if (given_up.state != queue::TaskState::kQuarantined) continue;
        WARPSMITH_RETURN_IF_ERROR(results_.GiveUp(transaction, given_up, &cancelled));
      }
      return absl::OkStatus();
    });
  });
  if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
  // Unsettled: the lease runs out, or the next boot frees it.
  if (!settled.ok()) spdlog::warn("task {}: {} (and not settled: {})", task.id, Message(status), Message(settled));
}

}  // namespace warpsmith::engine
