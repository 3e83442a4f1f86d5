// The hub's second half: leases, rescue and dispatch.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "coordinator/engine/assignments.h"
#include "coordinator/engine/worker_hub.h"

namespace warpsmith::engine {
namespace {

constexpr Duration kIdlePoll = std::chrono::seconds(1);
constexpr Duration kPurgeEvery = std::chrono::minutes(10);
constexpr double kKeepFinishedTasksSeconds = 7 * 24 * 3600;

}  // namespace

void WorkerHub::TakeSyncs() {
  std::map<uint64_t, std::vector<queue::TaskKey>> kept;
  const bool pending = std::any_of(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second.registered && entry.second.sync_pending;
  });
  if (!pending) return;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    kept.clear();
    for (const auto& [id, session] : sessions_) {
      if (!session.registered || !session.sync_pending) continue;
      std::vector<queue::TaskKey>& mine = kept[id];
      if (session.listed.empty()) continue;
      WARPSMITH_ASSIGN_OR_RETURN(mine, queue_.Renew(transaction, OwnerOf(session), session.listed));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    spdlog::warn("leases wait to be renewed: {}", Message(status));
    quiet_until_ = clock_.Now() + kDatabaseRetry;
    return;
  }
  for (const auto& [id, mine] : kept) {
    Session& session = sessions_.at(id);
    session.sync_pending = false;
    Compare(session, mine);
  }
}

void WorkerHub::Compare(Session& session, const std::vector<queue::TaskKey>& kept) {
  const TimePoint now = clock_.Now();
  const Duration patience = FromSeconds(queue_.settings().lease_seconds / 5);
  for (const queue::TaskKey& key : session.listed) {
    if (std::find(kept.begin(), kept.end(), key) == kept.end()) {
      spdlog::info("worker {} runs task {} at epoch {}, which is not its own any more: cancelled",
                   session.hello.worker_id(), key.id, key.epoch);
      const auto held = session.held.find(key.id);
      // It may have been given the same task anew, at a later epoch.
      if (held != session.held.end() && held->second.epoch != key.epoch) {
        const Held newer = held->second;
        SendCancel(session, key);
        session.held[key.id] = newer;
      } else {
        SendCancel(session, key);
      }
    } else {
      Held& held = session.held[key.id];
      if (held.epoch != key.epoch) held = {key.epoch, now, std::nullopt};
      held.missing.reset();
    }
  }
  std::vector<queue::TaskKey> released;
  for (auto& [id, held] : session.held) {
    const queue::TaskKey key{id, held.epoch};
    if (std::find(session.listed.begin(), session.listed.end(), key) != session.listed.end()) continue;
    // Just assigned, or its result is on the way: wait for a later Sync to say the same.
    if (now - held.since < patience) continue;
    if (!held.missing) held.missing = now;
    if (now - *held.missing >= patience) released.push_back(key);
  }
  if (released.empty()) return;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    return queue_.Release(transaction, released, 0,
                          fmt::format("worker {} does not run it, though it was assigned", session.hello.worker_id()));
  });
  if (!status.ok()) return;  // the next Sync comes back to it
  for (const queue::TaskKey& key : released) {
    spdlog::info("task {} goes back into the queue: worker {} does not run it", key.id, session.hello.worker_id());
    session.held.erase(key.id);
  }
  next_dispatch_ = {};
}

void WorkerHub::Rescue() {
  const TimePoint now = clock_.Now();
  absl::Status renewed = renew_own_();
  if (!renewed.ok()) {
    spdlog::debug("own leases: {}", Message(renewed));
    return;
  }
  if (now < rescue_from_) return;
  std::vector<queue::Task> rescued;
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    cancelled.clear();
    WARPSMITH_ASSIGN_OR_RETURN(rescued, queue_.Rescue(transaction));
    for (const queue::Task& task : rescued) {
      if (task.state != queue::TaskState::kQuarantined) continue;
      WARPSMITH_RETURN_IF_ERROR(results_.GiveUp(transaction, task, &cancelled));
    }
    if (now >= next_purge_) {
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("task_purge", {kKeepFinishedTasksSeconds}).status());
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    // While the database was away no worker could renew: give them the time to do it.
    rescue_from_ = clock_.Now() + FromSeconds(queue_.settings().lease_seconds);
    spdlog::warn("no rescue now: {}", Message(status));
    return;
  }
  if (now >= next_purge_) next_purge_ = now + kPurgeEvery;
  for (const queue::Task& task : rescued) {
    spdlog::warn("task {}: {}", task.id, task.last_error);
    next_dispatch_ = {};
    for (auto& [id, session] : sessions_) {
      if (session.hello.worker_id() != task.owner_worker) continue;
      // Past its deadline, or given up: the worker must stop it. One whose lease ran out may still take it back.
      if (task.owner_boot.empty() || task.state == queue::TaskState::kQuarantined) {
        SendCancel(session, {task.id, task.epoch});
      } else {
        session.held.erase(task.id);
      }
    }
    signals_.SearchChanged(task.search_id);
  }
  if (!rescued.empty()) signals_.TasksAdded();
  if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
}

void WorkerHub::NoteSeen() {
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    for (const auto& [id, session] : sessions_) {
      if (!session.registered) continue;
      WARPSMITH_RETURN_IF_ERROR(
          transaction
              .Execute("worker_seen", {session.hello.worker_id(), session.hello.boot_id(), session.draining, true})
              .status());
    }
    for (const auto& gone : gone_) {
      const std::string& worker = gone.first;
      const bool back = std::any_of(sessions_.begin(), sessions_.end(),
                                    [&](const auto& entry) { return entry.second.hello.worker_id() == worker; });
      if (back) continue;
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("worker_seen", {worker, gone.second, false, false}).status());
    }
    return absl::OkStatus();
  });
  if (status.ok()) gone_.clear();
}

void WorkerHub::Dispatch() {
  const TimePoint now = clock_.Now();
  if (now < next_dispatch_ || now < quiet_until_) return;
  next_dispatch_ = now + kIdlePoll;
  for (auto& entry : sessions_) {
    Session& session = entry.second;
    const int free = session.hello.slots() - static_cast<int>(session.held.size());
    if (!session.registered || session.draining || free <= 0) continue;
    std::vector<v1::Assignment> assignments;
    std::vector<queue::CancelledTask> cancelled;
    absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
      assignments.clear();
      cancelled.clear();
      WARPSMITH_ASSIGN_OR_RETURN(
          const std::vector<queue::Task> tasks,
          queue_.Claim(transaction, OwnerOf(session), {queue::TaskKind::kIntake, queue::TaskKind::kEvaluate},
                       session.hello.device().device_class(), free));
      for (const queue::Task& task : tasks) {
        auto assignment = MakeAssignment(transaction, task);
        if (assignment.ok()) {
          assignments.push_back(std::move(assignment).value());
          continue;
        }
        if (absl::IsUnavailable(assignment.status())) return assignment.status();
        WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> failed,
                                   queue_.Fail(transaction, {task.id, task.epoch}, Message(assignment.status())));
        for (const queue::Task& given_up : failed) {
          if (given_up.state != queue::TaskState::kQuarantined) continue;
          WARPSMITH_RETURN_IF_ERROR(results_.GiveUp(transaction, given_up, &cancelled));
        }
      }
      return absl::OkStatus();
    });
    if (!status.ok()) {
      spdlog::warn("no tasks can be handed out now: {}", Message(status));
      quiet_until_ = clock_.Now() + kDatabaseRetry;
      return;
    }
    if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
    for (v1::Assignment& assignment : assignments) {
      session.held[assignment.task_id()] = {assignment.epoch(), clock_.Now(), std::nullopt};
      v1::CoordinatorMessage message;
      *message.mutable_assignment() = std::move(assignment);
      session.connection->Send(std::move(message));
    }
  }
}

}  // namespace warpsmith::engine
