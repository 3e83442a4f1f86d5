// TMA descriptors of a plan's tensor_map arguments.
// Threading: pure functions. Units: bytes, elements. Errors: InvalidArgument for a map that the device's format cannot
// hold; Internal with the driver's word where it refuses one; FailedPrecondition where the device has no TMA.
// Source: cuTensorMapEncodeTiled's documented limits.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_TENSOR_MAP_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_TENSOR_MAP_H_

#include <array>

#include "gpu_worker/device/cuda/driver_api.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

inline constexpr uint32_t kMaxTensorMapRank = 5;

struct TensorMapFields {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  int64_t element_bytes = 1;
  uint32_t rank = 0;
  std::array<cuuint64_t, kMaxTensorMapRank> sides{};         // innermost first, as all
  std::array<cuuint64_t, kMaxTensorMapRank> stride_bytes{};  // of the second dimension on
  std::array<cuuint32_t, kMaxTensorMapRank> box{};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  int64_t extent_bytes = 0;  // from the first element to behind the last
};

absl::StatusOr<TensorMapFields> ReadTensorMap(const v1::TensorMap& map);

// Writes the 128 bytes, 64-aligned, for a tensor that begins at `address`.
absl::Status EncodeTensorMap(const cuda::DriverApi& api, const TensorMapFields& fields, CUdeviceptr address,
                             void* descriptor);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_TENSOR_MAP_H_
