// Arguments and views of a plan against tensors and a compiled kernel's parameters.
// Threading: pure functions. Errors: plan errors whose message begins with what follows the step's or argument's path.
#ifndef WARPSMITH_GPU_WORKER_PLAN_ARGUMENT_BINDER_H_
#define WARPSMITH_GPU_WORKER_PLAN_ARGUMENT_BINDER_H_

#include <string>

#include "common/status.h"
#include "gpu_worker/plan/device_limits.h"
#include "gpu_worker/plan/kernel_interface.h"
#include "gpu_worker/plan/plan.h"
#include "gpu_worker/plan/tensor_table.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::plan {

// What a step may touch: prepare reads parameters and writes persistent scratch.
enum class Phase { kPrepare, kRun };

absl::StatusOr<const Tensor*> FindReadable(const TensorTable& table, const std::string& name, Phase phase);
// Outputs and scratch (in prepare persistent, else not), and buffers whose change is part of the answer.
absl::StatusOr<const Tensor*> FindWritable(const TensorTable& table, const std::string& name, Phase phase);

// `offset` in elements, within the tensor's bytes.
absl::StatusOr<v1::BufferView> BindView(const Tensor& tensor, int64_t offset);

absl::StatusOr<v1::TensorMap> BindTensorMap(const Tensor& tensor, const TensorMapArgument& map,
                                            const DeviceLimits& limits);

// Whether an argument fits a parameter. Where the interface comes from PTX (not emulated), a pointer and a 64-bit
// integer look alike.
absl::Status CheckParameter(const Argument& argument, const KernelParameter& parameter, bool emulated);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_ARGUMENT_BINDER_H_
