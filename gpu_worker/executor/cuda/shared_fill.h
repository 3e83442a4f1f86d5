// Fills the shared memory of every multiprocessor, so that a kernel finds nothing there that an earlier launch left.
// Threading: one thread. Units: bytes.
// Errors: what the driver says; it compiles the few lines of PTX that this is.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_SHARED_FILL_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_SHARED_FILL_H_

#include <cstdint>

#include "gpu_worker/device/cuda/driver_api.h"

namespace warpsmith::executor {

class SharedFill {
 public:
  explicit SharedFill(const cuda::DriverApi& api) : api_(api) {}

  // `shared_bytes`: the most that one block may have.
  absl::Status Load(int multiprocessors, int shared_bytes);
  CUresult Launch(uint32_t word, CUstream stream);

  // The kernel's PTX, for sm_80 and later.
  static const char* Ptx();

 private:
  const cuda::DriverApi& api_;
  CUfunction function_ = nullptr;
  CUdeviceptr arrived_ = 0;  // blocks that have run, of all launches
  uint64_t launches_ = 0;
  unsigned int multiprocessors_ = 0;
  unsigned int shared_bytes_ = 0;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_SHARED_FILL_H_
