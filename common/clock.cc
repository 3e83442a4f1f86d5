#include "common/clock.h"

#include <thread>

namespace warpsmith {
namespace {

class MachineClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()); }
  int64_t WallMicros() const override {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  void SleepFor(Duration duration) override { std::this_thread::sleep_for(duration); }
};

}  // namespace

Clock& RealClock() {
  static MachineClock clock;
  return clock;
}

TimePoint FakeClock::Now() const {
  std::lock_guard lock(mutex_);
  return TimePoint(std::chrono::hours(1) + elapsed_);
}

int64_t FakeClock::WallMicros() const {
  std::lock_guard lock(mutex_);
  return 1'700'000'000'000'000 + std::chrono::duration_cast<std::chrono::microseconds>(elapsed_).count();
}

void FakeClock::SleepFor(Duration duration) {
  std::lock_guard lock(mutex_);
  elapsed_ += duration;
}

Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

double ToSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace warpsmith
