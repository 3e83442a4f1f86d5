// Idle executor children that wait for a spec. The pool refills in the background, several at once, and ends children
// in the background.
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
#include "gpu_worker/executor/refill_policy.h"

namespace warpsmith::executor {

class ChildPool {
 public:
  ChildPool(ChildOptions child, RefillLimits limits);
  ~ChildPool();

  // A warm one.
  absl::StatusOr<std::unique_ptr<ChildProcess>> Take();
  // Kills it and returns at once; it vanishes in the background.
  void Retire(std::unique_ptr<ChildProcess> child);
  // Kills it and waits until it has vanished, within bounds.
  void End(std::unique_ptr<ChildProcess> child);

  // While quiet, no child is started or goes on warming up but for somebody who waits. Going quiet waits, within
  // bounds, until those that are warming up stand still, or have done so where they cannot be held, and those that are
  // ending have gone.
  void SetQuiet(bool quiet);
  // While one lives, children on their way stand still as while quiet, but nothing waits until they do: for work that
  // their calls into the driver would slow down.
  class Hold {
   public:
    explicit Hold(ChildPool& pool) : pool_(pool) { pool_.AddHolds(1); }
    ~Hold() { pool_.AddHolds(-1); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    ChildPool& pool_;
  };
  // A killed child did not vanish: it hangs in the driver, and what it ran may still run.
  bool Wedged() const;

 private:
  struct Warming {
    std::unique_ptr<ChildProcess> child;
    TimePoint since;  // less the time for which it was held
    TimePoint held_since{};
    bool held = false;
    bool still = false;     // held, and seen to stand still
    bool was_held = false;  // at some time
  };
  struct Ending {
    std::unique_ptr<ChildProcess> child;
    TimePoint since;
  };
  void AddHolds(int more);
  void Work();
  PoolState State() const;
  int Wanted() const;  // children to start now
  bool IsStill() const;
  void StartOne(std::unique_lock<std::mutex>& lock);
  void HoldOrRelease();
  void Release(Warming& one, TimePoint now);
  void LookAfterWarming(TimePoint now);
  void LookAfterEnding(TimePoint now);
  void GiveUpOn(Warming& one, TimePoint now);
  void Fail(const absl::Status& status);

  const ChildOptions child_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  RefillPolicy policy_;  // guarded by mutex_, as all below
  std::deque<std::unique_ptr<ChildProcess>> ready_;
  std::list<Warming> warming_;
  std::list<Ending> ending_;
  int starting_ = 0;  // neither warming nor anything else yet
  int waiting_ = 0;
  int holds_ = 0;
  bool quiet_ = false;
  bool wedged_ = false;
  bool stopping_ = false;
  absl::Status failure_;     // of the last attempt
  TimePoint retry_after_{};  // no attempt before
  std::thread worker_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_POOL_H_
