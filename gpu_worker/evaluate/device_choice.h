// Which device "auto", "emulated", "cuda:1" or a GPU's UUID means on this machine.
// Threading: safe from any thread. Errors: InvalidArgument for a name that is none; NotFound and FailedPrecondition say
// what stands in the way of the GPU that was asked for.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_CHOICE_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_CHOICE_H_

#include <optional>
#include <string>

#include "common/status.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith::evaluate {

// nullopt: the emulated device. `probe` is asked only where a GPU may be meant. With "auto", a machine whose GPU cannot
// be used is told in the log.
absl::StatusOr<std::optional<cuda::GpuReport>> ChooseDevice(const std::string& device, cuda::GpuProbe& probe);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_CHOICE_H_
