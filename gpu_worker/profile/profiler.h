// Profiling a compiled candidate: what bounds it, by the hardware's counters. This is the evaluator's side.
// Threading: safe from any thread; one profile of a GPU at a time, while nothing is timed on it. Units: seconds,
// milliseconds where named so.
// Errors: InvalidArgument for a spec that is inconsistent; DeadlineExceeded; FailedPrecondition where the plan does not
// run; else the machine's fault. Counters that are not to be had are no error: the profile has its unavailable_reason.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_PROFILER_H_
#define WARPSMITH_GPU_WORKER_PROFILE_PROFILER_H_

#include "common/status.h"
#include "gpu_worker/executor/executor.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::profile {

struct ProfileRequest {
  int slot = 0;               // of the spec: the buffers that the plan runs on; their outputs are overwritten
  double limit_seconds = 20;  // wall time; the process is killed at it
  double measured_ms = 0;     // the candidate's median, to tell launch overhead by; 0: timed by the profiler itself
};

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual absl::StatusOr<v1::Profile> Run(const executor::ExecutorSpec& spec, const ProfileRequest& request) = 0;
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_PROFILER_H_
