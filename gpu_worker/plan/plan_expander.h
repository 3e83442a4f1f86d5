// From a parsed plan to what an executor runs: names resolved to buffers, expressions evaluated, repeats unrolled,
// literals encoded, everything checked against the compiled kernels and the device. Nothing runs before this passes.
// Buffers: the signature's tensors in order without those that alias an earlier allocation (outputs always have their
// own), then scratch in the plan's order. memset and copy of nothing (tensors without elements) are left out.
// Threading: pure functions. Units: bytes, elements.
// Errors: plan errors (plan_error.h) that name the step and field; Internal for a signature that contradicts itself or
// a tune assignment that is not the plan's.
#ifndef WARPSMITH_GPU_WORKER_PLAN_PLAN_EXPANDER_H_
#define WARPSMITH_GPU_WORKER_PLAN_PLAN_EXPANDER_H_

#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/device_limits.h"
#include "gpu_worker/plan/kernel_interface.h"
#include "gpu_worker/plan/plan.h"
#include "gpu_worker/plan/tune.h"
#include "warpsmith/v1/execution.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::plan {

struct ExpandOptions {
  bool frozen_weights = false;          // prepare is allowed
  int64_t max_launches = 100000;        // leaf steps of prepare and steps together
  int64_t max_arguments = 1000000;      // over all launches: bounds our own memory
  int64_t max_evaluations = 100000000;  // expression operations: bounds our own time
};

absl::StatusOr<v1::ExecutionPlan> Expand(const Plan& plan, const v1::ProblemSignature& signature,
                                         const std::vector<KernelInterface>& kernels, const DeviceLimits& limits,
                                         const TuneAssignment& tune = {}, const ExpandOptions& options = {});

// Every check of Expand that needs no compiled kernel. Made before compiling, it lets a plan error win over a compile
// error, as the order of outcomes has it, and spares a compilation.
absl::Status CheckPlan(const Plan& plan, const v1::ProblemSignature& signature, const DeviceLimits& limits,
                       const TuneAssignment& tune = {}, const ExpandOptions& options = {});

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_PLAN_EXPANDER_H_
