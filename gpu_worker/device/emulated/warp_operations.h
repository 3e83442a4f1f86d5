// What each lane gets from an operation of a warp, once every lane has arrived.
// Threading: pure. Source of the semantics: CUDA C++ Programming Guide, warp shuffle, vote, match and reduce functions.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_WARP_OPERATIONS_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_WARP_OPERATIONS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "gpu_worker/device/emulated/include/warpsmith/device_table.h"

namespace warpsmith::device {

struct LaneRequest {
  uint32_t operation = 0;
  uint32_t mask = 0;
  uint64_t value = 0;
  uint32_t operand = 0;
  uint32_t width = 32;
};

// `lanes` are those that take part. Results of other lanes are left alone.
void ResolveWarpOperation(const std::array<LaneRequest, 32>& requests, uint32_t lanes,
                          std::array<uint64_t, 32>& results);

// "__shfl_sync", "__ballot_sync", ...
std::string_view WarpOperationName(uint32_t operation);

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_WARP_OPERATIONS_H_
