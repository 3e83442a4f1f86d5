// The hub's third part: tasks are handed out, to all workers with free slots at once.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "coordinator/engine/worker_hub.h"

namespace warpsmith::engine {
namespace {

// Whoever puts a task in wakes the hub. The poll is for those that come due, and for what others put in: often while
// tasks keep coming.
constexpr Duration kIdlePoll = std::chrono::seconds(1);
constexpr Duration kBusyPoll = std::chrono::milliseconds(15);
constexpr Duration kBusy = std::chrono::seconds(2);
constexpr int kTasksAtOnce = 512;

}  // namespace

std::vector<queue::Claimant> WorkerHub::Claimants(std::map<std::string, uint64_t>* sessions) {
  std::vector<queue::Claimant> claimants;
  if (sessions_.empty()) return claimants;
  const auto takes = [](const Session& session) {
    return session.registered && !session.draining && !session.draining_wanted;
  };
  std::map<std::string, int> alike;
  for (const auto& [id, session] : sessions_) {
    if (takes(session)) ++alike[session.hello.device().device_class()];
  }
  int wanted = 0;
  auto at = sessions_.upper_bound(served_to_);
  for (size_t i = 0; i < sessions_.size() && wanted < kTasksAtOnce; ++i, ++at) {
    if (at == sessions_.end()) at = sessions_.begin();
    Session& session = at->second;
    const int free = std::min(kTasksAtOnce - wanted, session.hello.slots() - static_cast<int>(session.held.size()));
    if (!takes(session) || free <= 0) continue;
    const v1::DeviceDescription& device = session.hello.device();
    claimants.push_back({OwnerOf(session),
                         {device.device_class(), device.memory_bytes(), session.last_problem},
                         free,
                         alike[device.device_class()] > 1});
    (*sessions)[session.hello.worker_id()] = at->first;
    wanted += free;
    served_to_ = at->first;
  }
  return claimants;
}

void WorkerHub::Dispatch() {
  const TimePoint now = clock_.Now();
  if (now < next_dispatch_ || now < quiet_until_) return;
  next_dispatch_ = now + (now < busy_until_ ? kBusyPoll : kIdlePoll);
  std::map<std::string, uint64_t> sessions;
  const std::vector<queue::Claimant> claimants = Claimants(&sessions);
  if (claimants.empty()) return;
  std::vector<queue::Task> tasks;
  std::vector<absl::StatusOr<v1::Assignment>> assignments;
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    cancelled.clear();
    WARPSMITH_ASSIGN_OR_RETURN(tasks, queue_.ClaimForMany(transaction, claimants));
    if (tasks.empty()) return absl::OkStatus();
    WARPSMITH_ASSIGN_OR_RETURN(assignments, assignments_.Make(transaction, tasks));
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (assignments[i].ok()) continue;
      WARPSMITH_ASSIGN_OR_RETURN(
          const std::vector<queue::Task> failed,
          queue_.Fail(transaction, {tasks[i].id, tasks[i].epoch}, Message(assignments[i].status())));
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
  if (!tasks.empty()) {
    busy_until_ = clock_.Now() + kBusy;
    next_dispatch_ = now + kBusyPoll;
  }
  if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!assignments[i].ok()) continue;
    const uint64_t id = sessions.at(tasks[i].owner_worker);
    Session& session = sessions_.at(id);
    session.held[tasks[i].id] = {tasks[i].epoch, now, std::nullopt, now};
    session.last_problem = tasks[i].problem_id;
    v1::CoordinatorMessage message;
    *message.mutable_assignment() = std::move(*assignments[i]);
    Say(id, std::move(message));
  }
  if (static_cast<int>(tasks.size()) < kTasksAtOnce / 2) return;
  // Many were handed out: there may be more, and more who want them.
  std::lock_guard lock(mutex_);
  woken_ = true;
}

}  // namespace warpsmith::engine
