// Empties a GPU's second-level cache by reading more than it holds. Reading, since lines that a flush had written would
// be written back in the middle of what is profiled and count as its traffic.
// Where there is no memory for that, or no compiler in the driver, the context's own flush, which writes, stands in.
// Threading: the thread of the current context. Errors: as CudaStatus.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_CACHE_FLUSH_H_
#define WARPSMITH_GPU_WORKER_PROFILE_CACHE_FLUSH_H_

#include "gpu_worker/executor/cuda/context.h"

namespace warpsmith::profile {

class CacheFlush {
 public:
  explicit CacheFlush(executor::CudaContext& context);
  ~CacheFlush();
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  // At the end of the context's stream, which is idle.
  absl::Status Enqueue();

 private:
  absl::Status MakeReader();

  executor::CudaContext& context_;
  const cuda::DriverApi& api_;
  CUmodule module_ = nullptr;
  CUfunction read_ = nullptr;
  CUdeviceptr data_ = 0;
  unsigned long long bytes_ = 0;
  unsigned blocks_ = 0;
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_CACHE_FLUSH_H_
