// Convolutions and attention through cuDNN 9: the handle, and the workspace that all of its steps share, since they run
// one after another on one stream.
// Threading: one thread, with the GPU's context current. Units: bytes. Errors: as LibraryRunner's.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_RUNNER_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/library/cudnn_api.h"
#include "gpu_worker/library/device_buffer.h"
#include "gpu_worker/library/library_runner.h"

namespace warpsmith::library {

class CudnnRunner {
 public:
  // Algorithms that need more are passed over.
  static constexpr size_t kMaxWorkspaceBytes = size_t{1} << 30;

  static absl::StatusOr<std::unique_ptr<CudnnRunner>> Create(const cuda::DriverApi& driver,
                                                             const std::vector<std::string>& folders);
  ~CudnnRunner();

  absl::StatusOr<std::shared_ptr<PreparedCall>> Prepare(const ConvolutionCall& call,
                                                        const std::map<std::string, CUdeviceptr>& addresses);
  absl::StatusOr<std::shared_ptr<PreparedCall>> Prepare(const AttentionCall& call,
                                                        const std::map<std::string, CUdeviceptr>& addresses);

  // For the calls that it makes.
  const cuda::DriverApi& driver() const { return driver_; }
  const CudnnApi& api() const { return api_; }
  cudnnHandle_t handle() const { return handle_; }
  absl::Status UseStream(CUstream stream);
  // Grows the workspace; what graphs captured before stays alive.
  absl::Status Reserve(size_t bytes);
  void* workspace() const { return workspaces_.empty() ? nullptr : workspaces_.back().pointer(); }
  // Milliseconds of one run of `enqueue`, the median of three after one; on a stream of its own.
  absl::StatusOr<float> Time(const std::function<absl::Status(CUstream)>& enqueue);

 private:
  CudnnRunner(const cuda::DriverApi& driver, const CudnnApi& api) : driver_(driver), api_(api) {}

  const cuda::DriverApi& driver_;
  const CudnnApi& api_;
  cudnnHandle_t handle_ = nullptr;
  std::vector<DeviceBuffer> workspaces_;  // the last is in use
};

cudnnDataType_t CudnnTypeOf(DataType type);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_RUNNER_H_
