// One fiber of Fibers: its stack and the place where it goes on. Its context is made once and lives as long as the
// fiber, whatever work it does: what begins on one side of a switch ends on the same side, which is what the
// sanitizers' accounts of stacks rest on. Threading: the loop's thread, but for Wake, which is safe from any, and the
// destructor. Source of the switch: Boost.Context's fcontext, beneath its fiber class, which makes a context for each
// piece of work.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_FIBER_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_FIBER_H_

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "llm_gateway/async/fibers.h"

namespace warpsmith::gateway {

class Fiber {
 public:
  // Null where there is no memory for a stack.
  static std::unique_ptr<Fiber> Make(Fibers& owner, Fibers::Home& home);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  // The one that runs on this thread; null outside of all.
  static Fiber* Current();

  void Begin(std::function<void()> work) { work_ = std::move(work); }
  // From the loop's own context: goes on until the fiber waits or its work has ended (true).
  bool Go();
  // From the fiber itself: back to the loop, until somebody goes on with it.
  void Suspend();
  // Has the loop go on with it.
  void Wake();
  // The same at once, from the loop's own context.
  void GoOn() { owner_.Resume(this); }

  Fibers::Home& home() { return home_; }
  EventLoop& loop() { return *home_.loop; }
  TaskRunner& blocking() { return owner_.blocking_; }

 private:
  using Context = boost::context::detail::fcontext_t;

  Fiber(Fibers& owner, Fibers::Home& home, char* memory);
  // What the fiber's stack begins with.
  static void Enter(boost::context::detail::transfer_t from) noexcept;
  void Leave(void** fake_stack);
  void Arrive(void* fake_stack, Context origin);

  Fibers& owner_;
  Fibers::Home& home_;
  char* const memory_;  // a page that nobody may touch, then the stack
  std::function<void()> work_;
  bool leaving_ = false;      // for good
  Context rest_ = nullptr;    // of the fiber, while it waits
  Context origin_ = nullptr;  // of the loop, while the fiber runs
  // What the sanitizers want to know of a switch.
  const void* origin_stack_ = nullptr;
  size_t origin_stack_bytes_ = 0;
  void* view_ = nullptr;
  void* origin_view_ = nullptr;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_FIBER_H_
