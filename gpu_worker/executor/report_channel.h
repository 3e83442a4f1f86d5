// The child's side of the channel to the worker. Reports can be written from a signal handler.
// Threading: one thread.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_REPORT_CHANNEL_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_REPORT_CHANNEL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "gpu_worker/executor/frame.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::executor {

class ReportChannel {
 public:
  // Reads one frame from the worker; empty: the worker has gone.
  static std::string ReadFrame();

  // Takes standard output over under another number; what is printed from now on goes nowhere.
  bool Open();
  // One byte, the first of all: the process is as ready as it can be without a spec.
  bool SendWarm();
  // What every report begins with, so that nothing else that writes to the channel is taken for one.
  bool SetNonce(std::string_view nonce);
  bool Send(std::string_view message);
  // A report without timings, made without allocating, and the process's end.
  [[noreturn]] void SendLast(v1::Outcome outcome, const char* message, const char* where, const char* printed);

 private:
  bool Write(const char* data, size_t bytes);
  int descriptor_ = -1;
  ReportHead head_{};
};

ReportChannel& Channel();

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_REPORT_CHANNEL_H_
