// The canary's kernels as PTX, which every driver compiles for its GPU, and the same arithmetic for the host.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_KERNEL_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_KERNEL_H_

#include <cstdint>

namespace warpsmith::cuda {

// canary_mix(u32* out, u32 rounds): out[thread] = MixOnHost(thread, rounds), one thread an element.
// canary_sum(u32* in, u64 count, u64* total): adds all elements to *total, whatever the grid.
extern const char kCanaryPtx[];

// Integer shifts and fused multiply-adds whose every bit is defined.
uint32_t MixOnHost(uint32_t index, uint32_t rounds);

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_KERNEL_H_
