// Threads for work that blocks, kept between pieces of work: as many as are needed at once, up to a limit, and fewer
// again when there is nothing to do. Beyond the limit work waits in order.
// Threading: Run is safe from any thread, from within work too. Work must not wait for work that has yet to start. The
// destructor lets everything that was given end.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_WORKER_POOL_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_WORKER_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "common/clock.h"
#include "llm_gateway/async/task_runner.h"

namespace warpsmith::gateway {

class WorkerPool final : public TaskRunner {
 public:
  explicit WorkerPool(int most_threads, Duration idle = std::chrono::seconds(10));
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Run(std::function<void()> work) override;
  int threads() const;

 private:
  static void* Enter(void* self);
  void Work();
  bool StartThreadLocked();

  const int most_threads_;
  const Duration idle_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable ended_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  int threads_ = 0;                            // guarded by mutex_
  int free_ = 0;                               // guarded by mutex_; threads that wait for work
  bool stopping_ = false;                      // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_WORKER_POOL_H_
