// One fiber of Fibers: its stack and the place where it goes on.
// Threading: the loop's thread, but for Wake, which is safe from any.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_FIBER_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_FIBER_H_

#include <boost/context/fiber.hpp>
#include <functional>
#include <memory>

#include "llm_gateway/async/fibers.h"

namespace warpsmith::gateway {

class Fiber {
 public:
  // Null where there is no memory for a stack.
  static std::unique_ptr<Fiber> Make(Fibers& owner);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  // The one that runs on this thread; null outside of all.
  static Fiber* Current();

  // From the loop's own context: goes on until the fiber waits or its work has ended (true).
  bool Go();
  void Begin(std::function<void()> work);
  // From the fiber itself: back to the loop, until somebody goes on with it.
  void Suspend();
  // Has the loop go on with it.
  void Wake();
  // The same at once, from the loop's own context.
  void GoOn() { owner_.Resume(this); }

  EventLoop& loop() { return owner_.loop_; }
  TaskRunner& blocking() { return owner_.blocking_; }

 private:
  Fiber(Fibers& owner, char* memory) : owner_(owner), memory_(memory) {}
  boost::context::fiber Body(boost::context::fiber&& loop);

  Fibers& owner_;
  char* const memory_;  // a page that nobody may touch, then the stack
  std::function<void()> work_;
  bool ended_ = false;
  boost::context::fiber rest_;    // of the fiber, while it waits
  boost::context::fiber origin_;  // of the loop, while the fiber runs
  // What the sanitizers want to know of a switch.
  void* fake_stack_ = nullptr;
  const void* origin_stack_ = nullptr;
  size_t origin_stack_bytes_ = 0;
  void* thread_view_ = nullptr;
  void* origin_view_ = nullptr;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_FIBER_H_
