#include "llm_gateway/async/wait_point.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace warpsmith::gateway {
namespace {

TEST_CASE("a thread waits until it is notified, and no notice is lost", "[unit]") {
  WaitPoint point;
  point.Notify();
  point.Notify();  // one with the first
  point.Wait();
  CHECK_FALSE(point.WaitUntil(RealClock().Now() + std::chrono::milliseconds(5)));
  std::thread other([&point] { point.Notify(); });
  CHECK(point.WaitUntil(RealClock().Now() + std::chrono::seconds(60)));
  other.join();
}

TEST_CASE("all that wait in a list are told of a change", "[unit]") {
  std::mutex mutex;
  WaitList list;
  bool changed = false;
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      while (!changed) list.WaitUntil(lock, RealClock().Now() + std::chrono::seconds(60));
      ++told;
    });
  }
  {
    std::lock_guard lock(mutex);
    changed = true;
    list.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(told == 4);
  std::unique_lock lock(mutex);
  CHECK_FALSE(list.WaitUntil(lock, RealClock().Now()));
}

TEST_CASE("on a thread, what blocks is done here and now, and sleep is the clock's", "[unit]") {
  CHECK_FALSE(OnFiber());
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  RunBlocking([&there] { there = std::this_thread::get_id(); });
  CHECK(there == here);
  FakeClock clock;
  const TimePoint before = clock.Now();
  SleepFor(clock, std::chrono::hours(1));
  CHECK(clock.Now() - before == std::chrono::hours(1));
}

}  // namespace
}  // namespace warpsmith::gateway
