// When executor processes may be made ready: never while something is timed, and rather several at once now and then
// than one after each candidate, since going quiet waits for those that are on their way.
// Threading: whoever has the device's turn.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_QUIET_WINDOW_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_QUIET_WINDOW_H_

#include "gpu_worker/executor/executor.h"

namespace warpsmith::evaluate {

class QuietWindow {
 public:
  // `refill_every`: executors started between two refills while candidates wait; 0: never quiet.
  QuietWindow(executor::ExecutorFactory& executors, int refill_every)
      : executors_(executors), refill_every_(refill_every) {}
  ~QuietWindow() { End(); }
  QuietWindow(const QuietWindow&) = delete;
  QuietWindow& operator=(const QuietWindow&) = delete;

  // Before the first thing that is timed; nothing to do where it is quiet already.
  void Begin() {
    if (quiet_ || refill_every_ <= 0) return;
    quiet_ = true;
    executors_.SetQuiet(true);
  }
  void CountStart() { ++started_; }
  // Quiet goes on where others wait for the device and enough processes are left.
  void EndTurn(bool others_wait) {
    if (!others_wait || started_ >= refill_every_) End();
  }

 private:
  void End() {
    if (!quiet_) return;
    quiet_ = false;
    started_ = 0;
    executors_.SetQuiet(false);
  }

  executor::ExecutorFactory& executors_;
  const int refill_every_;
  bool quiet_ = false;
  int started_ = 0;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_QUIET_WINDOW_H_
