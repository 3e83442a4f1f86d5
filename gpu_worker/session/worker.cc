#include "gpu_worker/session/worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "common/log.h"
#include "common/version.h"

namespace warpsmith::session {

Worker::Worker(WorkerOptions options, CoordinatorConnector& connector, TaskRunner& runner, ResultSpool& spool,
               Clock& clock)
    : options_(std::move(options)),
      connector_(connector),
      runner_(runner),
      spool_(spool),
      clock_(clock),
      random_(Sha256Prefix(options_.boot_id)) {
  // What an earlier boot finished is still owed.
  for (const v1::TaskResult& result : spool_.Pending()) {
    Task& task = tasks_[result.task_id()];
    task.assignment.set_task_id(result.task_id());
    task.assignment.set_epoch(result.epoch());
    task.started = task.finished = true;
  }
  for (int i = 0; i < options_.slots; ++i) slots_.emplace_back([this] { SlotLoop(); });
}

Worker::~Worker() {
  {
    std::lock_guard lock(mutex_);
    quit_slots_ = true;
    for (auto& [id, task] : tasks_) task.stop.request_stop();
  }
  changed_.notify_all();
  slots_.clear();
}

void Worker::OnMessage(v1::CoordinatorMessage message) {
  std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(message));
  changed_.notify_all();
}

void Worker::OnClosed(const absl::Status& status) {
  std::lock_guard lock(mutex_);
  closed_ = true;
  close_status_ = status;
  changed_.notify_all();
}

void Worker::Report(const absl::Status& status, bool news) {
  std::string reason = "the coordinator closed the stream";
  if (!status.ok()) reason = Message(news ? connector_.Explain(status) : status);
  // A refusal is told even where the worker was not connected before: it stays until somebody mends it.
  const bool refusal = !status.ok() && !absl::IsUnavailable(status) && reason != logged_reason_;
  if (!news && !refusal) return;
  logged_reason_ = reason;
  spdlog::warn("lost the coordinator: {}", reason);
}

void Worker::Run(std::stop_token stop) {
  std::stop_callback wake(stop, [this] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  TimePoint next_sync{};
  TimePoint drain_end{};
  std::unique_lock lock(mutex_);
  for (;;) {
    if (closed_ && stream_) {
      const bool news = connected_ || backoff_seconds_ == 0;
      const absl::Status status = close_status_;
      connected_ = false;
      closed_ = false;
      std::unique_ptr<CoordinatorStream> old = std::move(stream_);
      inbox_.clear();
      lock.unlock();
      old.reset();
      Report(status, news);
      lock.lock();
      backoff_seconds_ = std::clamp(backoff_seconds_ * 2, 0.2, 5.0);
      next_connect_ =
          clock_.Now() + FromSeconds(backoff_seconds_ * std::uniform_real_distribution<>(0.5, 1.0)(random_));
    }
    if (!stream_ && !draining_ && clock_.Now() >= next_connect_) Connect();
    while (!inbox_.empty()) {
      v1::CoordinatorMessage message = std::move(inbox_.front());
      inbox_.pop_front();
      Handle(message);
    }
    if (stop.stop_requested() && !draining_) StartDrain();
    if (draining_) {
      if (drain_end == TimePoint{}) drain_end = clock_.Now() + FromSeconds(options_.drain_seconds);
      // Done once all is acknowledged, or time is up; what is left stays in the spool for the next boot.
      if (tasks_.empty() || clock_.Now() >= drain_end || (Unfinished() == 0 && !connected_)) break;
    }
    if (connected_ && (sync_due_ || clock_.Now() >= next_sync)) {
      SendSync();
      sync_due_ = false;
      next_sync = clock_.Now() + FromSeconds(lease_seconds_ / 3);
    }
    changed_.wait_for(lock, std::chrono::milliseconds(connected_ ? 250 : 50));
  }
  std::unique_ptr<CoordinatorStream> last = std::move(stream_);
  if (last) {
    last->Close();
    changed_.wait_for(lock, std::chrono::seconds(2), [this] { return closed_; });
    bool closed = closed_;
    lock.unlock();
    last.reset();  // aborts if the coordinator did not close
    lock.lock();
    if (!closed) changed_.wait_for(lock, std::chrono::seconds(5), [this] { return closed_; });
  }
}

void Worker::Connect() {
  closed_ = false;
  stream_ = connector_.Open(*this);
  v1::WorkerMessage message;
  v1::Hello* hello = message.mutable_hello();
  hello->set_worker_id(options_.worker_id);
  hello->set_boot_id(options_.boot_id);
  hello->set_version(kVersion);
  *hello->mutable_device() = options_.device;
  hello->set_slots(options_.slots);
  hello->set_node(options_.node);
  hello->set_gpu(options_.gpu);
  FillRunning(hello->mutable_running());
  stream_->Send(std::move(message));
  for (v1::TaskResult& result : spool_.Pending()) {
    v1::WorkerMessage resend;
    *resend.mutable_result() = std::move(result);
    stream_->Send(std::move(resend));
  }
}

void Worker::Handle(const v1::CoordinatorMessage& message) {
  switch (message.message_case()) {
    case v1::CoordinatorMessage::kWelcome:
      if (message.welcome().lease_seconds() > 0) lease_seconds_ = message.welcome().lease_seconds();
      connected_ = true;
      backoff_seconds_ = 0;
      spdlog::info("connected to the coordinator {}; lease {} s", message.welcome().coordinator_version(),
                   lease_seconds_);
      sync_due_ = true;
      break;
    case v1::CoordinatorMessage::kAssignment:
      Accept(message.assignment());
      break;
    case v1::CoordinatorMessage::kAck:
      Acknowledge(message.ack());
      break;
    case v1::CoordinatorMessage::kCancel:
      Cancel(message.cancel().task_id(), message.cancel().epoch());
      break;
    case v1::CoordinatorMessage::kDrain:
      StartDrain();
      break;
    case v1::CoordinatorMessage::MESSAGE_NOT_SET:
      spdlog::warn("a message of a kind that this version does not know; ignored");
      break;
  }
}

void Worker::Accept(const v1::Assignment& assignment) {
  if (draining_) return;  // the next Sync does not list it, and the coordinator gives it to another
  auto found = tasks_.find(assignment.task_id());
  if (found != tasks_.end()) {
    if (found->second.assignment.epoch() >= assignment.epoch()) return;  // said twice
    // A newer epoch: the coordinator gave up on ours. Ours is stopped; its result is refused anyway.
    found->second.stop.request_stop();
    spool_.Remove(assignment.task_id(), found->second.assignment.epoch());
    std::erase(waiting_, assignment.task_id());
    tasks_.erase(found);
  }
  Task& task = tasks_[assignment.task_id()];
  task.assignment = assignment;
  waiting_.push_back(assignment.task_id());
  sync_due_ = true;
  changed_.notify_all();
}

void Worker::Cancel(int64_t task_id, int64_t epoch) {
  auto found = tasks_.find(task_id);
  if (found == tasks_.end() || found->second.assignment.epoch() != epoch) return;
  found->second.stop.request_stop();
  spool_.Remove(task_id, epoch);
  std::erase(waiting_, task_id);
  tasks_.erase(found);
  sync_due_ = true;
}

void Worker::Acknowledge(const v1::ResultAck& ack) {
  if (!ack.recorded())
    spdlog::warn("the result of task {} epoch {} came too late and was dropped", ack.task_id(), ack.epoch());
  spool_.Remove(ack.task_id(), ack.epoch());
  auto found = tasks_.find(ack.task_id());
  if (found != tasks_.end() && found->second.assignment.epoch() == ack.epoch() && found->second.finished) {
    tasks_.erase(found);
    sync_due_ = true;
  }
}

void Worker::StartDrain() {
  if (draining_) return;
  spdlog::info("draining: {} tasks in hand", tasks_.size());
  draining_ = true;
  sync_due_ = true;
  for (int64_t id : waiting_) tasks_.erase(id);
  waiting_.clear();
}

int Worker::Unfinished() const {
  return static_cast<int>(
      std::count_if(tasks_.begin(), tasks_.end(), [](const auto& pair) { return !pair.second.finished; }));
}

void Worker::FillRunning(google::protobuf::RepeatedPtrField<v1::RunningTask>* running) const {
  for (const auto& [id, task] : tasks_) {
    v1::RunningTask* entry = running->Add();
    entry->set_task_id(id);
    entry->set_epoch(task.assignment.epoch());
  }
}

void Worker::SendSync() {
  v1::WorkerMessage message;
  v1::Sync* sync = message.mutable_sync();
  FillRunning(sync->mutable_running());
  sync->set_free_slots(draining_ ? 0 : std::max(0, options_.slots - Unfinished()));
  sync->set_draining(draining_);
  if (options_.condition) *sync->mutable_condition() = options_.condition();
  Send(std::move(message));
}

// Before the Welcome too: a result that is finished between our Hello and it must not wait for the next connection.
void Worker::Send(v1::WorkerMessage message) {
  if (stream_) stream_->Send(std::move(message));
}

void Worker::SlotLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return quit_slots_ || !waiting_.empty(); });
    if (quit_slots_) return;
    int64_t id = waiting_.front();
    waiting_.pop_front();
    Task& task = tasks_.at(id);
    task.started = true;
    v1::Assignment assignment = task.assignment;
    std::stop_source stop = task.stop;
    lock.unlock();
    TimePoint started = clock_.Now();
    v1::TaskResult result = runner_.Run(assignment, stop.get_token());
    result.set_task_id(assignment.task_id());
    result.set_epoch(assignment.epoch());
    result.set_seconds(ToSeconds(clock_.Now() - started));
    lock.lock();
    if (!stop.stop_requested()) FinishTask(id, std::move(result));
    changed_.notify_all();
  }
}

void Worker::FinishTask(int64_t task_id, v1::TaskResult result) {
  auto found = tasks_.find(task_id);
  if (found == tasks_.end() || found->second.assignment.epoch() != result.epoch()) return;
  found->second.finished = true;
  if (absl::Status status = spool_.Put(result); !status.ok()) {
    spdlog::error("the result of task {} is not on disk: {}", task_id, Message(status));
  }
  v1::WorkerMessage message;
  *message.mutable_result() = std::move(result);
  Send(std::move(message));
  sync_due_ = true;
}

}  // namespace warpsmith::session
