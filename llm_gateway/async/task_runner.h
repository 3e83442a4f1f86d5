// Takes work and has it done some time, on a thread or a fiber of its own: work may block.
// Threading: Run and Soon are safe from any thread, from within work too. Work must not wait for work that has yet to
// start.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_TASK_RUNNER_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_TASK_RUNNER_H_

#include <functional>
#include <utility>

namespace warpsmith::gateway {

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  virtual void Run(std::function<void()> work) = 0;
  // Of work that neither blocks nor takes long: done after what is at hand, so that it may gather what that leaves.
  virtual void Soon(std::function<void()> work) { Run(std::move(work)); }
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_TASK_RUNNER_H_
