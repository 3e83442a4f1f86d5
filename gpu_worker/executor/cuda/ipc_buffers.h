// The oracle's allocations, opened over CUDA IPC: each handle once, whichever slots name it.
// Threading: one thread. Units: bytes. Errors: with the driver's word and the buffer's number.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_IPC_BUFFERS_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_IPC_BUFFERS_H_

#include <map>
#include <string>
#include <vector>

#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {

class IpcBuffers {
 public:
  absl::Status Open(const cuda::DriverApi& api, const wire::Spec& spec);
  CUdeviceptr Payload(int slot, uint32_t buffer) const { return payloads_[static_cast<size_t>(slot)][buffer]; }
  int slots() const { return static_cast<int>(payloads_.size()); }

 private:
  absl::StatusOr<CUdeviceptr> OpenHandle(const cuda::DriverApi& api, const wire::Buffer& buffer);

  std::map<std::string, CUdeviceptr> opened_;
  std::vector<std::vector<CUdeviceptr>> payloads_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_IPC_BUFFERS_H_
