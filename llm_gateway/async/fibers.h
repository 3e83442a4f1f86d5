// Work that waits much and computes little, on fibers of a few threads: each piece has a stack of its own and runs on
// one event loop's thread, always the same, until it waits at a WaitPoint. Written like blocking code, it costs memory
// where a thread costs switches too. New work goes to the loop that has the least; beyond the limit it waits in order.
// What may not be done on a fiber: to block the thread for long (RunBlocking does), and to wait at a WaitPoint while
// holding a mutex. Stacks have 256 KiB, of which only what is touched takes memory, and end at a page that nobody may
// touch.
// Threading: as TaskRunner. The destructor, on another thread than the loops', lets everything that was given end.
// Source of the switch: Boost.Context.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_FIBERS_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_FIBERS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "llm_gateway/async/event_loop.h"
#include "llm_gateway/async/task_runner.h"

namespace warpsmith::gateway {

class Fiber;

class Fibers final : public TaskRunner {
 public:
  // `loops`, at least one, and `blocking`, the threads of RunBlocking, outlive this.
  Fibers(const std::vector<EventLoop*>& loops, TaskRunner& blocking, int most = 8192);
  Fibers(EventLoop& loop, TaskRunner& blocking, int most = 8192) : Fibers(std::vector{&loop}, blocking, most) {}
  ~Fibers() override;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  void Run(std::function<void()> work) override;
  // On a loop's thread, the caller's if it is one, on no fiber.
  void Soon(std::function<void()> work) override;
  int active() const;  // begun and not ended

 private:
  friend class Fiber;
  // One loop and the fibers that run on it and nowhere else.
  struct Home {
    EventLoop* loop;
    std::vector<std::unique_ptr<Fiber>> idle;  // the loop's thread
    int active = 0;                            // guarded by mutex_
  };
  void Post(Home& home, std::function<void()> work);
  void Start(Home& home, std::function<void()> work);
  void Resume(Fiber* fiber);
  Fiber* Take(Home& home);

  std::vector<Home> homes_;  // as many as there are loops
  TaskRunner& blocking_;
  const int most_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  int active_ = 0;                             // guarded by mutex_
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_FIBERS_H_
