// Idle executor children that wait for a spec. The pool refills in the background and ends children in the background.
// Threading: safe from any thread.
// Errors: what the last child that could not be started, or did not get warm, said.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_POOL_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_POOL_H_

#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "common/child_process.h"

namespace warpsmith::executor {

class ChildPool {
 public:
  // Keeps `idle` children of `child` warm.
  ChildPool(ChildOptions child, int idle);
  ~ChildPool();

  // A warm one.
  absl::StatusOr<std::unique_ptr<ChildProcess>> Take();
  // Kills it and returns at once; it vanishes in the background.
  void Retire(std::unique_ptr<ChildProcess> child);
  // Kills it and waits until it has vanished, within bounds.
  void End(std::unique_ptr<ChildProcess> child);

  // While quiet, no child is started but for somebody who waits. Going quiet waits, within bounds, until those that are
  // warming up or ending have done so.
  void SetQuiet(bool quiet);
  // A killed child did not vanish: it hangs in the driver, and what it ran may still run.
  bool Wedged() const;

 private:
  struct Warming {
    std::unique_ptr<ChildProcess> child;
    TimePoint since;
  };
  void Work();
  bool WantsChild() const;
  void StartOne(std::unique_lock<std::mutex>& lock);
  void LookAfterChildren();
  void Fail(const absl::Status& status);

  const ChildOptions child_;
  const int idle_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<ChildProcess>> ready_;  // guarded by mutex_, as all below
  std::list<Warming> warming_;
  std::list<Warming> ending_;
  int waiting_ = 0;
  bool quiet_ = false;
  bool wedged_ = false;
  bool stopping_ = false;
  absl::Status failure_;     // of the last attempt
  TimePoint retry_after_{};  // no attempt before
  std::thread worker_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_POOL_H_
