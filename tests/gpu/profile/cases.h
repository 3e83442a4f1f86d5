// The plans that the profiler is tried on, and memory of this process that another may open.
// Threading: one thread, with the device's context current. Units: bytes.
#ifndef WARPSMITH_TESTS_GPU_PROFILE_CASES_H_
#define WARPSMITH_TESTS_GPU_PROFILE_CASES_H_

#include <string>
#include <vector>

#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/executor/executor.h"

namespace warpsmith::profile_test {

inline constexpr int64_t kCopyBytes = int64_t{2} << 30;
inline constexpr int kMatrixSize = 4096;

struct Case {
  std::string name;
  v1::ExecutionPlan plan;
};
// copy, matmul, conflicts, chase, tiny, and two (a matrix product and a copy).
Case MakeCase(const std::string& name, int processors);

// The compiled kernels.cu for this device.
absl::StatusOr<std::string> CompileKernels(int compute_capability);

// An allocation for each of the plan's buffers, with handles.
class Buffers {
 public:
  static absl::StatusOr<Buffers> Allocate(const cuda::DriverApi& api, const v1::ExecutionPlan& plan);
  ~Buffers();
  Buffers(Buffers&& other) noexcept
      : api_(other.api_), addresses_(std::move(other.addresses_)), shared_(other.shared_) {
    other.addresses_.clear();
  }
  const std::vector<CUdeviceptr>& addresses() const { return addresses_; }
  const std::vector<executor::SharedBuffer>& shared() const { return shared_; }

 private:
  explicit Buffers(const cuda::DriverApi& api) : api_(api) {}
  const cuda::DriverApi& api_;
  std::vector<CUdeviceptr> addresses_;
  std::vector<executor::SharedBuffer> shared_;
};

// The plan's kernels launched in this process, once to warm up and once more: what ncu looks at.
absl::Status LaunchHere(const cuda::DriverApi& api, const std::string& cubin, const Case& what);

}  // namespace warpsmith::profile_test

#endif  // WARPSMITH_TESTS_GPU_PROFILE_CASES_H_
