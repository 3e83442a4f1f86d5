#include "gpu_worker/metrics/device_sampler.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace warpsmith::metrics {
namespace {

constexpr int kOldAfter = 6;  // intervals

}  // namespace

struct DeviceSampler::State {
  std::unique_ptr<cuda::DeviceMonitor> monitor;
  Duration interval{};
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;  // guarded by mutex, as all below
  bool ended = false;
  DeviceSample sample;
  TimePoint taken{};
};

DeviceSample SampleOf(const cuda::DeviceState& state) {
  DeviceSample sample;
  if (state.throttle_reasons) {
    sample.throttled = state.Has(cuda::kThrottleThermal | cuda::kThrottlePowerBrake | cuda::kThrottleHardware);
  }
  if (state.temperature_c) sample.celsius = *state.temperature_c;
  if (state.power_w) sample.watts = *state.power_w;
  if (state.memory_total_bytes && state.memory_free_bytes) {
    sample.used_bytes = static_cast<double>(*state.memory_total_bytes - *state.memory_free_bytes);
  }
  return sample;
}

DeviceSampler::DeviceSampler(std::unique_ptr<cuda::DeviceMonitor> monitor, Duration interval)
    : state_(std::make_shared<State>()) {
  state_->monitor = std::move(monitor);
  state_->interval = interval;
  if (state_->monitor) state_->thread = std::thread([state = state_] { Loop(state); });
}

void DeviceSampler::Loop(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->stopping) {
    lock.unlock();
    const absl::StatusOr<cuda::DeviceState> read = state->monitor->Read();
    lock.lock();
    state->sample = read.ok() ? SampleOf(*read) : DeviceSample();
    state->taken = RealClock().Now();
    state->changed.wait_for(lock, state->interval, [&] { return state->stopping; });
  }
  state->ended = true;
  state->changed.notify_all();
}

DeviceSampler::~DeviceSampler() {
  if (!state_->thread.joinable()) return;
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  const bool ended = state_->changed.wait_for(lock, std::chrono::seconds(1), [this] { return state_->ended; });
  lock.unlock();
  ended ? state_->thread.join() : state_->thread.detach();
}

DeviceSample DeviceSampler::Last() const {
  const std::lock_guard lock(state_->mutex);
  if (RealClock().Now() - state_->taken > state_->interval * kOldAfter) return {};
  return state_->sample;
}

}  // namespace warpsmith::metrics
