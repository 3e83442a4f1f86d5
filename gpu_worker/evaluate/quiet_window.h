// When executor processes may be made ready: in all that is not timed. A window of quiet lies around each thing that is
// timed and no wider, so that contexts grow while inputs are made, trials run and outputs are judged.
// Threading: whoever has the device's turn.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_QUIET_WINDOW_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_QUIET_WINDOW_H_

#include "gpu_worker/executor/executor.h"

namespace warpsmith::evaluate {

class QuietWindow {
 public:
  // Disabled: never quiet, as on the emulated device, which shares its cores anyway.
  QuietWindow(executor::ExecutorFactory& executors, bool enabled) : executors_(executors), enabled_(enabled) {}
  ~QuietWindow() { End(); }
  QuietWindow(const QuietWindow&) = delete;
  QuietWindow& operator=(const QuietWindow&) = delete;

  // Before the first thing that is timed; nothing to do where it is quiet already.
  void Begin() {
    if (quiet_ || !enabled_) return;
    quiet_ = true;
    executors_.SetQuiet(true);
  }
  // Nothing is timed until the next Begin.
  void End() {
    if (!quiet_) return;
    quiet_ = false;
    executors_.SetQuiet(false);
  }

 private:
  executor::ExecutorFactory& executors_;
  const bool enabled_;
  bool quiet_ = false;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_QUIET_WINDOW_H_
