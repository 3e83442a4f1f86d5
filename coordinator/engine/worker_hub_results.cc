// The hub's fourth part: results go to the recorder and come back as acknowledgements.
#include <spdlog/spdlog.h>

#include "coordinator/engine/worker_hub.h"

namespace warpsmith::engine {
namespace {

constexpr size_t kResultsAtOnce = 512;
constexpr size_t kResultBytesAtOnce = 16u << 20;

queue::TaskKey TaskOfResult(const WorkerResult& result) { return {result.result.task_id(), result.result.epoch()}; }

}  // namespace

void WorkerHub::RecordLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    record_.wait(lock, [this] { return stopping_ || to_record_; });
    if (stopping_) return;
    Recording recording = *std::move(to_record_);
    to_record_.reset();
    lock.unlock();
    recording.recorded = results_.Record(recording.results);
    lock.lock();
    recorded_ = std::move(recording);
    wake_.notify_all();
  }
}

WorkerHub::Recording WorkerHub::NextRecording() {
  Recording recording;
  size_t bytes = 0;
  while (!unrecorded_.empty() && recording.results.size() < kResultsAtOnce && bytes < kResultBytesAtOnce) {
    bytes += unrecorded_.front().second.result.ByteSizeLong();
    recording.from.push_back(unrecorded_.front().first);
    recording.results.push_back(std::move(unrecorded_.front().second));
    unrecorded_.pop_front();
  }
  return recording;
}

void WorkerHub::TakeRecorded() {
  std::optional<Recording> done;
  {
    std::lock_guard lock(mutex_);
    done.swap(recorded_);
  }
  if (!done) return;
  recording_ = false;
  Acknowledge(*std::move(done));
}

void WorkerHub::RecordResults() {
  if (!recorder_.joinable()) {
    while (!unrecorded_.empty() && clock_.Now() >= quiet_until_) {
      Recording recording = NextRecording();
      recording.recorded = results_.Record(recording.results);
      Acknowledge(std::move(recording));
    }
    return;
  }
  if (recording_ || unrecorded_.empty() || clock_.Now() < quiet_until_) return;
  recording_ = true;
  Recording recording = NextRecording();
  {
    std::lock_guard lock(mutex_);
    to_record_ = std::move(recording);
  }
  record_.notify_all();
}

void WorkerHub::Acknowledge(Recording recording) {
  if (!recording.recorded.ok()) {
    for (size_t i = recording.results.size(); i > 0; --i) {
      unrecorded_.emplace_front(recording.from[i - 1], std::move(recording.results[i - 1]));
    }
    spdlog::warn("{} results wait for the database: {}", unrecorded_.size(), Message(recording.recorded.status()));
    quiet_until_ = clock_.Now() + kDatabaseRetry;
    return;
  }
  for (const WorkerResult& result : recording.results) {
    const auto sent = sent_.find(TaskOfResult(result));
    if (sent != sent_.end()) sent_.erase(sent);
  }
  for (size_t i = 0; i < recording.recorded->size(); ++i) {
    const auto found = sessions_.find(recording.from[i]);
    if (found == sessions_.end()) continue;
    const RecordedResult& result = (*recording.recorded)[i];
    Session& session = found->second;
    const auto held = session.held.find(result.key.id);
    if (held != session.held.end() && held->second.epoch == result.key.epoch) session.held.erase(held);
    std::erase(session.listed, result.key);
    v1::CoordinatorMessage ack;
    ack.mutable_ack()->set_task_id(result.key.id);
    ack.mutable_ack()->set_epoch(result.key.epoch);
    ack.mutable_ack()->set_recorded(result.recorded);
    Say(recording.from[i], std::move(ack));
  }
  next_dispatch_ = {};
}

}  // namespace warpsmith::engine
