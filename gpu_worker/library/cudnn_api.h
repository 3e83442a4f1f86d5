// cuDNN 9, loaded at run time. Only where its header was found at build time.
// Threading: Load is safe from any thread; the table is constant. Errors: NotFound with the remedy.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_API_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_API_H_

#include <cudnn.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::library {

struct CudnnApi {
#define FUNCTION(name) decltype(&::name) name = nullptr;
#include "gpu_worker/library/cudnn_functions.inc"
#undef FUNCTION
  int version = 0;  // 91400 for 9.14.0

  // Once a process: later calls give the same table, whatever the arguments.
  static absl::StatusOr<const CudnnApi*> Load(const std::vector<std::string>& folders);
};

// ResourceExhausted for cuDNN's "out of memory", FailedPrecondition for "not supported", else Internal; with cuDNN's
// own last message where it has one.
absl::Status CudnnStatus(const CudnnApi& api, cudnnStatus_t result, std::string_view what);

// "9.14.0"
std::string CudnnVersionText(int version);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_API_H_
