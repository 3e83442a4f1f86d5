// Takes work and has it done some time, on a thread or a fiber of its own: work may block.
// Threading: Run is safe from any thread, from within work too. Work must not wait for work that has yet to start.
#ifndef WARPSMITH_LLM_GATEWAY_ASYNC_TASK_RUNNER_H_
#define WARPSMITH_LLM_GATEWAY_ASYNC_TASK_RUNNER_H_

#include <functional>

namespace warpsmith::gateway {

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  virtual void Run(std::function<void()> work) = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_ASYNC_TASK_RUNNER_H_
