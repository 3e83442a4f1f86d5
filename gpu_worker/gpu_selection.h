// Which of a machine's GPUs `--gpus` means.
// Threading: pure. Errors: InvalidArgument names the part that is wrong and what there is.
#ifndef WARPSMITH_GPU_WORKER_GPU_SELECTION_H_
#define WARPSMITH_GPU_WORKER_GPU_SELECTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith {

// `selection`: "all", or ordinals ("0,2"). At least one, none twice, in ascending order.
absl::StatusOr<std::vector<cuda::GpuDevice>> SelectGpus(std::string_view selection,
                                                        const std::vector<cuda::GpuReport>& gpus);

}  // namespace warpsmith

#endif  // WARPSMITH_GPU_WORKER_GPU_SELECTION_H_
