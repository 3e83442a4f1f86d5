// Virtual time: events in the order of their time, those of the same time in an order drawn from the seed.
// Threading: one thread. An event that waits runs what is due meanwhile (RunUntil inside RunUntil), as other threads
// and processes would. Units: microseconds since the simulation's start.
#ifndef WARPSMITH_TESTS_SIMULATION_SCHEDULER_H_
#define WARPSMITH_TESTS_SIMULATION_SCHEDULER_H_

#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "common/clock.h"
#include "tests/simulation/random.h"

namespace warpsmith::simulation {

using Micros = int64_t;
constexpr Micros kMillisecond = 1'000;
constexpr Micros kSecond = 1'000'000;
inline Micros Seconds(double seconds) { return static_cast<Micros>(seconds * kSecond); }

// Thrown where a simulation does not come to rest.
struct Runaway {};

class Scheduler {
 public:
  explicit Scheduler(Random& random) : random_(random) {}

  Micros now() const { return now_; }
  int64_t executed() const { return executed_; }
  void In(Micros delay, std::function<void()> event);
  // Runs what is due up to `until`; then it is that time, or later where an event waited for longer.
  void RunUntil(Micros until);

 private:
  Random& random_;
  Micros now_ = 0;
  uint64_t sequence_ = 0;
  int64_t executed_ = 0;
  std::map<std::tuple<Micros, uint64_t, uint64_t>, std::function<void()>> events_;
};

// Something that takes turns: when it is woken, and at the latest when it said.
class Actor {
 public:
  Actor(Scheduler& scheduler, std::function<void()> turn);
  void WakeIn(Micros delay);  // the earlier of this and what was said before

 private:
  struct State {
    std::function<void()> turn;
    Micros due = -1;  // -1: asleep
  };
  Scheduler& scheduler_;
  std::shared_ptr<State> state_;
};

// The product's clock over a scheduler's time. SleepFor hands over to `sleep`.
class VirtualClock final : public Clock {
 public:
  VirtualClock(const Scheduler& scheduler, int64_t wall_start_us, std::function<void(Micros)> sleep)
      : scheduler_(scheduler), wall_start_us_(wall_start_us), sleep_(std::move(sleep)) {}
  TimePoint Now() const override {
    return TimePoint(std::chrono::hours(1) + std::chrono::microseconds(scheduler_.now()));
  }
  int64_t WallMicros() const override { return wall_start_us_ + scheduler_.now(); }
  void SleepFor(Duration duration) override {
    sleep_(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
  }

 private:
  const Scheduler& scheduler_;
  const int64_t wall_start_us_;
  const std::function<void(Micros)> sleep_;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_SCHEDULER_H_
