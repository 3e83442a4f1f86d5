#include "gpu_worker/evaluate/throttle_gate.h"

#include "common/log.h"

namespace warpsmith::evaluate {
namespace {

constexpr double kLeastShareOfClock = 0.75;
constexpr double kPauseSeconds[] = {0.05, 0.2, 0.5};  // in all measurements of one candidate together

bool IsSlowed(const ClockReading& reading) {
  if (reading.thermal || reading.power_brake) return true;
  if (reading.idle || reading.power_cap || reading.sm_mhz <= 0) return false;
  return reading.sm_mhz < kLeastShareOfClock * reading.max_sm_mhz;
}

}  // namespace

bool ThrottleGate::Slowed() {
  if (guard_ == nullptr) return false;
  absl::StatusOr<ClockReading> reading = guard_->ReadClocks();
  if (!reading.ok()) {
    spdlog::warn("clocks cannot be read: {}", Message(reading.status()));
    return false;
  }
  sm_mhz_ = reading->idle ? 0 : reading->sm_mhz;
  return IsSlowed(*reading);
}

double ThrottleGate::ReadMhz() {
  Slowed();
  return sm_mhz_;
}

// An idle device's low clock before a batch says nothing; heat does.
void ThrottleGate::Begin() {
  slowed_before_ = false;
  if (guard_ == nullptr) return;
  absl::StatusOr<ClockReading> reading = guard_->ReadClocks();
  slowed_before_ = reading.ok() && (reading->thermal || reading->power_brake);
}

ThrottleGate::Verdict ThrottleGate::End() {
  bool slowed = Slowed() || slowed_before_;
  if (!slowed) return Verdict::kGood;
  if (pauses_ >= static_cast<int>(std::size(kPauseSeconds))) return Verdict::kGaveUp;
  clock_.SleepFor(FromSeconds(kPauseSeconds[pauses_++]));
  return Verdict::kTakeAgain;
}

}  // namespace warpsmith::evaluate
