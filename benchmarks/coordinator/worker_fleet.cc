#include "benchmarks/coordinator/worker_fleet.h"

#include <fmt/format.h>

#include "benchmarks/coordinator/simulated_worker.h"

namespace warpsmith::bench {
namespace {

// After a change a worker says within a second what it runs, and every five seconds (a third of a lease) in any case.
constexpr int kSlices = 20;
constexpr Duration kSlice = std::chrono::milliseconds(1000 / kSlices);
constexpr int kQuietSeconds = 5;

}  // namespace

WorkerFleet::WorkerFleet(FleetOptions options) : options_(std::move(options)) {
  workers_.reserve(static_cast<size_t>(options_.workers));
  for (int i = 0; i < options_.workers; ++i) workers_.push_back(std::make_unique<SimulatedWorker>(*this, i));
  syncs_ = std::thread([this] { SyncLoop(); });
}

WorkerFleet::~WorkerFleet() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  syncs_.join();
  workers_.clear();
}

absl::Status WorkerFleet::Connect(Duration patience) {
  const TimePoint until = RealClock().Now() + patience;
  for (const auto& worker : workers_) worker->Open();
  while (counters_.connected < options_.workers) {
    if (RealClock().Now() >= until) {
      return DeadlineExceeded(
          fmt::format("{} of {} workers were welcomed in time", counters_.connected.load(), options_.workers));
    }
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  return absl::OkStatus();
}

void WorkerFleet::SetDraining(bool draining) {
  draining_ = draining;
  for (const auto& worker : workers_) worker->Tick(true);
}

std::vector<TaskStart> WorkerFleet::TakeStarts() {
  std::lock_guard lock(mutex_);
  std::vector<TaskStart> taken;
  taken.swap(starts_);
  return taken;
}

void WorkerFleet::SyncLoop() {
  std::unique_lock lock(mutex_);
  for (int64_t turn = 0; !wake_.wait_for(lock, kSlice, [this] { return stopping_; }); ++turn) {
    lock.unlock();
    const auto slice = static_cast<size_t>(turn % kSlices);
    const int64_t round = turn / kSlices;
    for (size_t i = slice; i < workers_.size(); i += kSlices) {
      workers_[i]->Tick(round % kQuietSeconds == static_cast<int64_t>(i) % kQuietSeconds);
    }
    lock.lock();
  }
}

}  // namespace warpsmith::bench
