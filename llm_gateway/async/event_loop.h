// A thread that does pieces of work one after the other, none of which blocks, and some of them at a given time.
// Threading: Post and OnThisThread are safe from any thread; timers belong to the loop's thread. What is posted by one
// thread runs in order. Units: points of the machine's clock. Errors: none; work must not throw.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_EVENT_LOOP_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_EVENT_LOOP_H_

#include <cstdint>
#include <functional>

#include "common/clock.h"

namespace warpsmith::gateway {

class EventLoop {
 public:
  using TimerId = uint64_t;  // 0: no timer

  virtual ~EventLoop() = default;
  virtual bool OnThisThread() const = 0;
  virtual void Post(std::function<void()> work) = 0;
  virtual TimerId StartTimer(TimePoint at, std::function<void()> work) = 0;
  virtual void StopTimer(TimerId timer) = 0;  // one that has gone off: nothing happens
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_EVENT_LOOP_H_
