// One process at a time uses a GPU: an advisory lock a GPU, by its UUID, in a folder that only this user can write to.
// The kernel lets go of it when the process ends, however it ends.
// Threading: safe from any thread. Errors: DeadlineExceeded names the process that holds the GPU; FailedPrecondition
// says what is wrong with the folder.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_LOCK_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_LOCK_H_

#include <filesystem>
#include <string>
#include <utility>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith::cuda {

class GpuLock {
 public:
  // /run/warpsmith where this process can make or use it, else /tmp/warpsmith-locks-<uid>.
  static std::filesystem::path DefaultFolder();

  // Waits until `deadline` has passed.
  static absl::StatusOr<GpuLock> Acquire(const std::string& gpu_uuid, Duration deadline,
                                         const std::filesystem::path& folder = DefaultFolder());
  ~GpuLock();
  GpuLock(GpuLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  GpuLock& operator=(GpuLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

 private:
  explicit GpuLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_LOCK_H_
