// Time as a collaborator, so that tests can hold it.
// Threading: implementations are safe from any thread. Units: as the type says; WallMicros is since 1970 UTC.
#ifndef WARPSMITH_COMMON_CLOCK_H_
#define WARPSMITH_COMMON_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <mutex>

namespace warpsmith {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;  // monotonic
  virtual int64_t WallMicros() const = 0;
  virtual void SleepFor(Duration duration) = 0;
};

// The machine's clock.
Clock& RealClock();

// A clock that only moves when told to: SleepFor advances it.
class FakeClock final : public Clock {
 public:
  TimePoint Now() const override;
  int64_t WallMicros() const override;
  void SleepFor(Duration duration) override;
  void Advance(Duration duration) { SleepFor(duration); }

 private:
  mutable std::mutex mutex_;
  Duration elapsed_{};
};

// Seconds as a floating-point number, to a Duration and back.
Duration FromSeconds(double seconds);
double ToSeconds(Duration duration);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_CLOCK_H_
