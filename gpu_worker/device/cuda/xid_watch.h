// The driver's error numbers (Xid) for one GPU, as they come.
// Threading: one thread at a time. Errors: where NVML, or the machine's sandbox, has no events.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_XID_WATCH_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_XID_WATCH_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"

namespace warpsmith::cuda {

class XidWatch {
 public:
  virtual ~XidWatch() = default;
  // What came since the last call; does not wait.
  virtual std::vector<int> Poll() = 0;
};

absl::StatusOr<std::unique_ptr<XidWatch>> MakeNvmlXidWatch(const std::string& gpu_uuid);

class FakeXidWatch final : public XidWatch {
 public:
  std::vector<int> Poll() override { return std::exchange(coming, {}); }
  std::vector<int> coming;
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_XID_WATCH_H_
