// The hub's second part: leases and rescue.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "coordinator/engine/worker_hub.h"

namespace warpsmith::engine {

// A worker says often what it runs. Its leases are set anew when a fifth of one is over, and so is asked whether it
// still has the task: whatever takes a task away from a worker in between goes through here and takes it out of `held`.
bool WorkerHub::NeedsRenewal(const Session& session, const queue::TaskKey& key) const {
  const auto held = session.held.find(key.id);
  return held == session.held.end() || held->second.epoch != key.epoch ||
         clock_.Now() - held->second.renewed >= FromSeconds(queue_.settings().lease_seconds / 5);
}

void WorkerHub::TakeSyncs() {
  std::map<uint64_t, std::vector<queue::TaskKey>> kept;
  std::vector<queue::OwnedKeys> to_renew;
  for (const auto& [id, session] : sessions_) {
    if (!session.registered || !session.sync_pending) continue;
    std::vector<queue::TaskKey>& mine = kept[id];
    queue::OwnedKeys owned{OwnerOf(session), {}};
    for (const queue::TaskKey& key : session.listed) {
      if (NeedsRenewal(session, key)) {
        owned.keys.push_back(key);
      } else {
        mine.push_back(key);
      }
    }
    if (!owned.keys.empty()) to_renew.push_back(std::move(owned));
  }
  std::vector<queue::OwnedKey> renewed;
  const TimePoint now = clock_.Now();
  if (!to_renew.empty()) {
    absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(renewed, queue_.RenewMany(transaction, to_renew));
      return absl::OkStatus();
    });
    if (!status.ok()) {
      spdlog::warn("leases wait to be renewed: {}", Message(status));
      quiet_until_ = clock_.Now() + kDatabaseRetry;
      return;
    }
  }
  std::sort(renewed.begin(), renewed.end());
  for (auto& [id, mine] : kept) {
    Session& session = sessions_.at(id);
    session.sync_pending = false;
    for (const queue::TaskKey& key : session.listed) {
      if (!std::binary_search(renewed.begin(), renewed.end(), queue::OwnedKey{session.hello.worker_id(), key})) {
        // Its result has come and may be recorded at this moment: the acknowledgement will tell.
        if (sent_.contains(key)) mine.push_back(key);
        continue;
      }
      mine.push_back(key);
      Held& held = session.held[key.id];
      if (held.epoch != key.epoch) held = {key.epoch, now, std::nullopt};
      held.renewed = now;
    }
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
  if (now < *rescue_from_) return;
  std::vector<queue::Task> rescued;
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    cancelled.clear();
    WARPSMITH_ASSIGN_OR_RETURN(rescued, queue_.Rescue(transaction));
    for (const queue::Task& task : rescued) {
      if (task.state != queue::TaskState::kQuarantined) continue;
      WARPSMITH_RETURN_IF_ERROR(results_.GiveUp(transaction, task, &cancelled));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    // While the database was away no worker could renew: give them the time to do it.
    rescue_from_ = clock_.Now() + FromSeconds(queue_.settings().lease_seconds);
    spdlog::warn("no rescue now: {}", Message(status));
    return;
  }
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

void WorkerHub::TellFleet() {
  const TimePoint now = clock_.Now();
  if (now < next_fleet_) return;
  next_fleet_ = now + std::chrono::seconds(1);
  std::vector<FleetMember> members;
  members.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) {
    if (!session.greeted) continue;
    members.push_back({session.hello.worker_id(), session.hello.boot_id(), session.hello.node(), session.hello.gpu(),
                       session.draining || session.draining_wanted, !session.held.empty(), session.condition});
  }
  observer_->OnFleet(members);
}

void WorkerHub::NoteSeen(int parts) {
  seen_part_ = (seen_part_ + 1) % parts;
  std::vector<std::string> workers, boots, draining, connected;
  std::set<std::string> here;
  const auto note = [&](const std::string& worker, const std::string& boot, bool drains, bool is_connected) {
    workers.push_back(worker);
    boots.push_back(boot);
    draining.push_back(drains ? "t" : "f");
    connected.push_back(is_connected ? "t" : "f");
  };
  for (const auto& [id, session] : sessions_) {
    here.insert(session.hello.worker_id());
    const bool now = static_cast<int>(id % static_cast<uint64_t>(parts)) == seen_part_;
    if (session.registered && now) note(session.hello.worker_id(), session.hello.boot_id(), session.draining, true);
  }
  for (const auto& [worker, boot] : gone_) {
    if (!here.contains(worker)) note(worker, boot, false, false);
  }
  if (workers.empty()) return;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    return transaction.Execute("workers_seen", {workers, boots, draining, connected}).status();
  });
  if (status.ok()) gone_.clear();
}

}  // namespace warpsmith::engine
