#include "gpu_worker/metrics/device_meter.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "gpu_worker/metrics/device_sampler.h"

namespace warpsmith::metrics {
namespace {

using namespace std::chrono_literals;

TEST_CASE("busy time in all, and its share of the last minute", "[unit]") {
  FakeClock clock;
  DeviceMeter meter(clock);
  CHECK_FALSE(meter.Ratio());
  clock.Advance(10s);
  CHECK(meter.Ratio() == 0.0);
  meter.Begin();
  clock.Advance(10s);
  CHECK(meter.Seconds() == Approx(10));
  CHECK(meter.Ratio().value() == Approx(0.5));
  meter.End();
  meter.End();
  clock.Advance(20s);
  CHECK(meter.Seconds() == Approx(10));
  CHECK(meter.Ratio().value() == Approx(0.25));
  clock.Advance(25s);  // 65 s: half of the busy time is more than a minute ago
  CHECK(meter.Ratio().value() == Approx(10.0 / 60));
  clock.Advance(10s);
  CHECK(meter.Ratio().value() == Approx(5.0 / 60));
  clock.Advance(60s);
  CHECK(meter.Ratio() == 0.0);
  meter.Begin();
  clock.Advance(300s);
  CHECK(meter.Ratio().value() == Approx(1));
  CHECK(meter.Seconds() == Approx(310));
}

TEST_CASE("a GPU's state is shown as far as it is told", "[unit]") {
  cuda::DeviceState state;
  CHECK_FALSE(SampleOf(state).throttled);
  CHECK_FALSE(SampleOf(state).celsius);
  state.throttle_reasons = cuda::kThrottlePowerCap | cuda::kThrottleIdle;  // what heavy kernels meet every time
  CHECK(SampleOf(state).throttled == false);
  state.throttle_reasons = cuda::kThrottleSoftwareThermal;
  CHECK(SampleOf(state).throttled == true);
  state.temperature_c = 71;
  state.power_w = 402.5;
  state.memory_total_bytes = 100;
  CHECK_FALSE(SampleOf(state).used_bytes);
  state.memory_free_bytes = 60;
  CHECK(SampleOf(state).celsius == 71);
  CHECK(SampleOf(state).watts == 402.5);
  CHECK(SampleOf(state).used_bytes == 40);
}

// A driver whose calls do not return until the test says so.
class HangingMonitor final : public cuda::DeviceMonitor {
 public:
  explicit HangingMonitor(std::shared_ptr<std::atomic<bool>> hangs) : hangs_(std::move(hangs)) {}
  absl::StatusOr<cuda::DeviceState> Read() override {
    while (*hangs_) std::this_thread::sleep_for(1ms);
    cuda::DeviceState state;
    state.temperature_c = 50;
    return state;
  }
  absl::StatusOr<cuda::DeviceState> ReadClocks() override { return Read(); }

 private:
  const std::shared_ptr<std::atomic<bool>> hangs_;
};

TEST_CASE("a driver that hangs holds nobody up, and its figures vanish", "[unit]") {
  const auto hangs = std::make_shared<std::atomic<bool>>(false);
  const auto becomes = [](const DeviceSampler& sampler, std::optional<double> celsius) {
    const TimePoint until = RealClock().Now() + 20s;
    while (RealClock().Now() < until) {
      if (sampler.Last().celsius == celsius) return true;
      std::this_thread::sleep_for(2ms);
    }
    return false;
  };
  {
    DeviceSampler sampler(std::make_unique<HangingMonitor>(hangs), 20ms);
    CHECK(becomes(sampler, 50));
    *hangs = true;
    CHECK(becomes(sampler, std::nullopt));
  }  // ends although the thread still hangs
  *hangs = false;
  CHECK_FALSE(DeviceSampler(nullptr).Last().throttled);
}

}  // namespace
}  // namespace warpsmith::metrics
