#include "coordinator/engine/worker_hub.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/version.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

constexpr size_t kResultsKept = 8192;
constexpr size_t kSeenAtOnce = 64;
constexpr int kSeenParts = 16;
constexpr int kMostSlots = 64;

std::string CheckHello(const v1::Hello& hello) {
  const auto usable = [](const std::string& id) {
    return !id.empty() && id.size() <= 128 && store::CleanLine(id) == id;
  };
  if (!usable(hello.worker_id()) || hello.worker_id() == queue::kCoordinatorWorker) {
    return "Hello.worker_id must be 1 to 128 printable characters and not \"coordinator\"";
  }
  if (!usable(hello.boot_id())) return "Hello.boot_id must be 1 to 128 printable characters";
  if (hello.device().device_class().empty()) return "Hello.device.device_class must not be empty";
  return "";
}

std::vector<queue::TaskKey> KeysOf(const google::protobuf::RepeatedPtrField<v1::RunningTask>& running) {
  std::vector<queue::TaskKey> keys;
  for (const v1::RunningTask& task : running) keys.push_back({task.task_id(), task.epoch()});
  return keys;
}

}  // namespace

WorkerHub::WorkerHub(store::Database& database, queue::TaskQueue& queue, ResultRecorder& results, Signals& signals,
                     Clock& clock, std::function<absl::Status()> renew_own)
    : database_(database),
      queue_(queue),
      results_(results),
      signals_(signals),
      clock_(clock),
      renew_own_(std::move(renew_own)),
      assignments_(clock) {}

WorkerHub::~WorkerHub() { Stop(); }

void WorkerHub::Start() {
  recorder_ = std::thread([this] { RecordLoop(); });
  thread_ = std::thread([this] { Loop(); });
}

void WorkerHub::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  record_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (recorder_.joinable()) recorder_.join();
  std::map<uint64_t, std::shared_ptr<WorkerConnection>> opened;
  {
    std::lock_guard lock(mutex_);
    opened.swap(opened_);
  }
  for (auto& [id, connection] : opened) connection->Close("the coordinator is shutting down");
}

uint64_t WorkerHub::Open(std::shared_ptr<WorkerConnection> connection) {
  std::lock_guard lock(mutex_);
  const uint64_t id = next_session_++;
  if (stopping_) {
    connection->Close("the coordinator is shutting down");
  } else {
    opened_.emplace(id, std::move(connection));
    fresh_.push_back(id);
  }
  return id;
}

void WorkerHub::Receive(uint64_t session, v1::WorkerMessage message) {
  {
    std::lock_guard lock(mutex_);
    inbox_.push_back({session, false, std::move(message)});
  }
  wake_.notify_all();
}

void WorkerHub::Closed(uint64_t session) {
  {
    std::lock_guard lock(mutex_);
    opened_.erase(session);
    inbox_.push_back({session, true, {}});
  }
  wake_.notify_all();
}

void WorkerHub::Wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

void WorkerHub::Cancel(const std::vector<queue::CancelledTask>& tasks) {
  {
    std::lock_guard lock(mutex_);
    to_cancel_.insert(to_cancel_.end(), tasks.begin(), tasks.end());
    woken_ = true;
  }
  wake_.notify_all();
}

void WorkerHub::WantDraining(const std::string& worker_id, bool wanted) {
  {
    std::lock_guard lock(mutex_);
    to_drain_[worker_id] = wanted;
    woken_ = true;
  }
  wake_.notify_all();
}

queue::Owner WorkerHub::OwnerOf(const Session& session) const {
  return {session.hello.worker_id(), session.hello.boot_id()};
}

void WorkerHub::SendCancel(Session& session, const queue::TaskKey& key) {
  session.held.erase(key.id);
  v1::CoordinatorMessage message;
  message.mutable_cancel()->set_task_id(key.id);
  message.mutable_cancel()->set_epoch(key.epoch);
  session.connection->Send(std::move(message));
}

Duration WorkerHub::Beat() const {
  const Duration lease = FromSeconds(queue_.settings().lease_seconds);
  return std::clamp<Duration>(lease / 6, std::chrono::milliseconds(50), std::chrono::seconds(2));
}

void WorkerHub::Loop() {
  const Duration beat = Beat();
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const bool waiting = (!unrecorded_.empty() && !recording_) || clock_.Now() < quiet_until_;
      const Duration poll = std::clamp<Duration>(next_dispatch_ - clock_.Now(), std::chrono::milliseconds(1), beat);
      wake_.wait_for(lock, waiting ? std::min(kDatabaseRetry, beat) : poll,
                     [this] { return stopping_ || woken_ || !inbox_.empty() || recorded_; });
      if (stopping_) return;
    }
    const TimePoint begun = clock_.Now();
    Turn();
    observer_->OnTurn(clock_.Now() - begun);
  }
}

void WorkerHub::Turn() {
  {
    std::lock_guard lock(mutex_);
    if (woken_) next_dispatch_ = {};
    woken_ = false;
  }
  // Workers that outlived the last coordinator come back with Hello; their tasks are not taken from them before.
  if (!rescue_from_) rescue_from_ = clock_.Now() + FromSeconds(queue_.settings().lease_seconds);
  TakeIn();
  TakeRecorded();
  TellFleet();
  if (clock_.Now() < quiet_until_) return;
  Register();
  RecordResults();
  TakeSyncs();
  const TimePoint now = clock_.Now();
  if (now >= next_rescue_) {
    next_rescue_ = now + Beat();
    Rescue();
  }
  if (now >= next_seen_) {
    // Of many workers a part at a time, so that nobody waits for a write of a thousand rows.
    const int parts = std::clamp(static_cast<int>(sessions_.size() / kSeenAtOnce), 1, kSeenParts);
    next_seen_ = now + Beat() * 2 / parts;
    NoteSeen(parts);
  }
  Dispatch();
  SendSaid();
}

void WorkerHub::SendSaid() {
  for (auto& [id, messages] : outgoing_) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second.connection->SendAll(std::move(messages));
  }
  outgoing_.clear();
}

void WorkerHub::TakeIn() {
  std::deque<Incoming> inbox;
  std::vector<queue::CancelledTask> cancelled;
  std::map<std::string, bool> drained;
  {
    std::lock_guard lock(mutex_);
    inbox.swap(inbox_);
    cancelled.swap(to_cancel_);
    drained.swap(to_drain_);
    for (uint64_t id : fresh_) {
      const auto opened = opened_.find(id);
      if (opened != opened_.end()) sessions_[id].connection = opened->second;
    }
    fresh_.clear();
  }
  for (auto& [id, session] : sessions_) {
    if (drained.empty()) break;
    const auto wanted = drained.find(session.hello.worker_id());
    if (session.greeted && wanted != drained.end()) session.draining_wanted = wanted->second;
  }
  for (const queue::CancelledTask& task : cancelled) {
    for (auto& [id, session] : sessions_) {
      if (session.held.contains(task.key.id)) SendCancel(session, task.key);
    }
  }
  for (Incoming& incoming : inbox) {
    const auto found = sessions_.find(incoming.session);
    if (found == sessions_.end()) continue;
    Session& session = found->second;
    if (incoming.closed) {
      if (session.greeted) {
        spdlog::info("worker {} disconnected", session.hello.worker_id());
        gone_.emplace_back(session.hello.worker_id(), session.hello.boot_id());
      }
      sessions_.erase(found);
    } else if (incoming.message.has_hello()) {
      TakeHello(incoming.session, incoming.message.hello());
    } else if (!session.greeted) {
      session.connection->Close("the first message must be Hello");
    } else if (incoming.message.has_sync()) {
      session.listed = KeysOf(incoming.message.sync().running());
      session.draining = incoming.message.sync().draining();
      session.condition = incoming.message.sync().condition();
      session.sync_pending = true;
    } else if (incoming.message.has_result()) {
      WorkerResult result{session.hello.worker_id(), session.hello.device(),
                          std::move(*incoming.message.mutable_result())};
      const queue::TaskKey key{result.result.task_id(), result.result.epoch()};
      if (unrecorded_.size() < kResultsKept) {
        sent_.insert(key);
        unrecorded_.emplace_back(incoming.session, std::move(result));
      } else {
        // It sends again what it has when it comes back.
        session.connection->Close("too many results wait for the database; connect again");
      }
    }
  }
}

void WorkerHub::TakeHello(uint64_t id, const v1::Hello& hello) {
  Session& session = sessions_.at(id);
  const std::string wrong = CheckHello(hello);
  if (!wrong.empty()) {
    session.connection->Close(wrong);
    return;
  }
  // The one that reports last is the worker; an older stream of the same id is a leftover.
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    if (at->first != id && at->second.greeted && at->second.hello.worker_id() == hello.worker_id()) {
      at->second.connection->Close("a newer session of the same worker_id took over");
      std::lock_guard lock(mutex_);
      opened_.erase(at->first);
      at = sessions_.erase(at);
    } else {
      ++at;
    }
  }
  session.greeted = true;
  next_fleet_ = {};
  session.registered = false;
  session.hello = hello;
  session.hello.set_slots(std::clamp(hello.slots(), 1, kMostSlots));
  session.listed = KeysOf(hello.running());
  session.sync_pending = true;
  session.draining = false;
  session.held.clear();
  v1::CoordinatorMessage welcome;
  welcome.mutable_welcome()->set_coordinator_version(kVersion);
  welcome.mutable_welcome()->set_lease_seconds(queue_.settings().lease_seconds);
  session.connection->Send(std::move(welcome));
  spdlog::info("worker {} connected: {}, {} slots, {} tasks running", hello.worker_id(), hello.device().name(),
               session.hello.slots(), hello.running_size());
}

void WorkerHub::Register() {
  for (auto& entry : sessions_) {
    Session& session = entry.second;
    if (!session.greeted || session.registered) continue;
    const v1::Hello& hello = session.hello;
    std::vector<queue::CancelledTask> cancelled;
    std::vector<queue::Task> freed;
    std::vector<queue::TaskKey> held;
    absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
      cancelled.clear();
      held.clear();
      const std::string device = hello.device().SerializeAsString();
      WARPSMITH_ASSIGN_OR_RETURN(
          const store::ResultSet stored,
          transaction.Execute(
              "worker_upsert",
              {hello.worker_id(), hello.boot_id(), store::CleanLine(hello.version(), 80), store::Bytes{device},
               store::CleanLine(hello.device().device_class(), 200), hello.device().emulated(), hello.slots()}));
      session.draining_wanted = stored[0].Bool("draining_wanted");
      // What an earlier boot finished and left in the worker's spool is not lost with that boot.
      WARPSMITH_RETURN_IF_ERROR(queue_.Adopt(transaction, OwnerOf(session), KeysOf(hello.running())).status());
      WARPSMITH_ASSIGN_OR_RETURN(freed, queue_.FreeOtherBoots(transaction, OwnerOf(session), true));
      for (const queue::Task& task : freed) {
        if (task.state != queue::TaskState::kQuarantined) continue;
        WARPSMITH_RETURN_IF_ERROR(results_.GiveUp(transaction, task, &cancelled));
      }
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                                 transaction.Execute("task_held", {hello.worker_id(), hello.boot_id()}));
      for (const store::Row row : rows) held.push_back({row.Int("id"), row.Int("epoch")});
      return absl::OkStatus();
    });
    if (!status.ok()) {
      spdlog::warn("worker {} waits to be registered: {}", hello.worker_id(), Message(status));
      quiet_until_ = clock_.Now() + kDatabaseRetry;
      return;
    }
    session.registered = true;
    next_dispatch_ = {};
    for (const queue::TaskKey& key : held) session.held[key.id] = {key.epoch, clock_.Now(), std::nullopt};
    if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
    for (const queue::Task& task : freed) signals_.SearchChanged(task.search_id);
  }
}

}  // namespace warpsmith::engine
