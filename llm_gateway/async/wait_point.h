// Where one waits for another: the blocking end of the gateway's calls. A thread that waits sleeps; a fiber that waits
// leaves its thread to others, so that a thousand calls may wait on one thread.
// Threading: one waiter at a time; Notify is safe from any thread, also under locks of the caller's. A Notify that
// comes before the wait is not lost; several are one. It must outlive the calls of Notify, which an owner's lock sees
// to. Units: points of the machine's clock.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_WAIT_POINT_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_WAIT_POINT_H_

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>

#include "common/clock.h"

namespace warpsmith::gateway {

class Fiber;

class WaitPoint {
 public:
  WaitPoint() = default;
  WaitPoint(const WaitPoint&) = delete;
  WaitPoint& operator=(const WaitPoint&) = delete;

  void Notify();
  void Wait() { WaitFor(std::nullopt); }
  // False where nobody had notified by then.
  bool WaitUntil(TimePoint deadline) { return WaitFor(deadline); }

 private:
  bool WaitFor(std::optional<TimePoint> deadline);
  bool WaitOnFiber(Fiber& fiber, std::optional<TimePoint> deadline);

  std::mutex mutex_;
  std::condition_variable changed_;  // for a thread
  bool notified_ = false;            // guarded by mutex_
  Fiber* fiber_ = nullptr;           // guarded by mutex_; the one that waits
};

// Those that wait for a change of what `lock` guards; a condition variable for threads and fibers.
// Threading: every function is called with the same mutex held.
class WaitList {
 public:
  // Lets go of the lock meanwhile. False where nobody had notified by then; look again at what was waited for.
  bool WaitUntil(std::unique_lock<std::mutex>& lock, TimePoint deadline);
  void NotifyAll();

 private:
  std::list<WaitPoint*> waiting_;
};

// Whether the caller runs on a fiber, and so must not block its thread.
bool OnFiber();
// Sleeps by `clock` on a thread; on a fiber by the machine's clock, others going on meanwhile.
void SleepFor(Clock& clock, Duration duration);
// Does what blocks a thread: on a fiber, on a thread of its own while the fiber waits; otherwise here and now.
void RunBlocking(const std::function<void()>& work);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_WAIT_POINT_H_
