#include "llm_gateway/async/wait_point.h"

#include <utility>

#include "llm_gateway/async/fiber.h"

namespace warpsmith::gateway {

void WaitPoint::Notify() {
  Fiber* fiber;
  {
    std::lock_guard lock(mutex_);
    notified_ = true;
    fiber = std::exchange(fiber_, nullptr);
    if (fiber == nullptr) changed_.notify_one();
  }
  if (fiber != nullptr) fiber->Wake();  // it waits, and so does what it waits at
}

bool WaitPoint::WaitFor(std::optional<TimePoint> deadline) {
  if (Fiber* fiber = Fiber::Current()) return WaitOnFiber(*fiber, deadline);
  std::unique_lock lock(mutex_);
  const auto notified = [this] { return notified_; };
  if (deadline) {
    changed_.wait_until(lock, *deadline, notified);
  } else {
    changed_.wait(lock, notified);
  }
  return std::exchange(notified_, false);
}

bool WaitPoint::WaitOnFiber(Fiber& fiber, std::optional<TimePoint> deadline) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(notified_, false)) return true;
    fiber_ = &fiber;
  }
  // Whoever notifies from here on has the loop go on with the fiber, which happens after it has left the thread.
  EventLoop::TimerId timer = 0;
  if (deadline) {
    timer = fiber.loop().StartTimer(*deadline, [this] {
      Fiber* waiting;
      {
        std::lock_guard lock(mutex_);
        waiting = std::exchange(fiber_, nullptr);
      }
      if (waiting != nullptr) waiting->GoOn();
    });
  }
  fiber.Suspend();
  if (timer != 0) fiber.loop().StopTimer(timer);
  std::lock_guard lock(mutex_);
  return std::exchange(notified_, false);
}

bool WaitList::WaitUntil(std::unique_lock<std::mutex>& lock, TimePoint deadline) {
  WaitPoint point;
  const auto place = waiting_.insert(waiting_.end(), &point);
  lock.unlock();
  const bool notified = point.WaitUntil(deadline);
  lock.lock();
  waiting_.erase(place);
  return notified;
}

void WaitList::NotifyAll() {
  for (WaitPoint* point : waiting_) point->Notify();
}

bool OnFiber() { return Fiber::Current() != nullptr; }

void SleepFor(Clock& clock, Duration duration) {
  if (!OnFiber()) return clock.SleepFor(duration);
  WaitPoint nobody;
  nobody.WaitUntil(RealClock().Now() + duration);
}

void RunBlocking(const std::function<void()>& work) {
  Fiber* fiber = Fiber::Current();
  if (fiber == nullptr) return work();
  WaitPoint done;
  fiber->blocking().Run([&work, &done] {
    work();
    done.Notify();
  });
  done.Wait();
}

}  // namespace warpsmith::gateway
