// Profiles a loaded plan: times its steps by events, collects counters over one run of all of it and over one launch of
// each of its kinds, and reads what launches take. The caches are empty where a run begins.
// Threading: the thread whose current context the plan was loaded in. Units: seconds, milliseconds where named so.
// Errors: what a launch of the plan fails with. Counters that are not to be had are no error: unavailable_reason.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_PLAN_PROFILER_H_
#define WARPSMITH_GPU_WORKER_PROFILE_PLAN_PROFILER_H_

#include <string>
#include <vector>

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/executor/cuda/plan_runner.h"
#include "gpu_worker/profile/cache_flush.h"
#include "gpu_worker/profile/cupti_api.h"
#include "gpu_worker/profile/launch_resources.h"
#include "gpu_worker/profile/range_profiler.h"
#include "gpu_worker/profile/step_kinds.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::profile {

struct PlanProfilerOptions {
  double seconds = 20;     // of all runs; what does not fit is left out
  double measured_ms = 0;  // one run's time as the evaluation took it; 0: taken here
};

class PlanProfiler {
 public:
  static constexpr size_t kMostKinds = 16;

  // All outlive it. The runner is loaded, and its plan's prepare steps have run; slot 0 is used.
  PlanProfiler(executor::CudaContext& context, executor::CudaPlanRunner& runner, const v1::ExecutionPlan& plan,
               const PlanProfilerOptions& options);

  // `cupti`: the library, or why there is none.
  absl::StatusOr<v1::Profile> Run(const absl::StatusOr<CuptiApi>& cupti);

 private:
  absl::Status Check(CUresult result, const char* what) const { return cuda::CudaStatus(api_, result, what); }
  absl::Status BeginCold();
  absl::Status Enqueue(int first, int last);
  absl::Status EnqueueAll() { return Enqueue(0, plan_.steps_size()); }
  absl::Status Wait() { return Check(context_.Synchronize(), "running the plan"); }
  absl::Status TimePlan(v1::Profile* profile);
  absl::Status TimeSteps();
  absl::Status DescribeSteps(v1::Profile* profile);
  absl::Status Count(const CuptiApi& cupti, v1::Profile* profile);
  absl::Status CountSteps(RangeProfiler& ranges, v1::Profile* profile);
  void ShareTime(v1::Profile* profile) const;

  executor::CudaContext& context_;
  const cuda::DriverApi& api_;
  executor::CudaPlanRunner& runner_;
  const v1::ExecutionPlan& plan_;
  const PlanProfilerOptions options_;
  CacheFlush flush_;
  std::vector<StepKind> kinds_;  // those that are profiled
  double other_ms_ = 0;          // of the kinds that are not
  double run_seconds_ = 0;       // wall time of one run with its flush
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_PLAN_PROFILER_H_
