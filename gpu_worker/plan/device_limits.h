// What a device allows a launch to have. Per-architecture figures; the worker fills in what it measures.
// Threading: plain values. Units: bytes, threads, registers.
// Source: CUDA C++ Programming Guide, technical specifications per compute capability.
#ifndef WARPSMITH_GPU_WORKER_PLAN_DEVICE_LIMITS_H_
#define WARPSMITH_GPU_WORKER_PLAN_DEVICE_LIMITS_H_

#include <cstdint>
#include <optional>

#include "gpu_worker/plan/kernel_interface.h"
#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

struct DeviceLimits {
  bool emulated = false;
  int compute_capability = 80;  // 89, 90, 100; emulated: the architecture it stands for
  int sm_count = 1;
  int64_t memory_budget_bytes = int64_t{16} << 30;  // for a plan's scratch and its kernels' local memory
  int64_t static_shared_bytes = 48 << 10;           // without the runner's opt-in
  int64_t shared_opt_in_bytes = 99 << 10;           // static and dynamic together, a block
  int64_t shared_per_sm_bytes = 100 << 10;
  int64_t shared_reserved_bytes = 1 << 10;  // the driver's own, a block
  int32_t threads_per_sm = 1536;
  int32_t blocks_per_sm = 16;
  int32_t registers_per_sm = 64 << 10;

  // The figures of `compute_capability`, or of the nearest one below it that is known; sm_count is that of a common
  // board (A100, A10, L40S, H100, B200).
  static DeviceLimits ForArchitecture(int compute_capability);
  // min_arch's figures, sm_80's where none is given, with four multiprocessors and 1 GiB.
  static DeviceLimits Emulated(const std::optional<Architecture>& min_arch);
};

// Blocks of one launch that fit a multiprocessor at once; 0: none. Registers count where `kernel` knows them.
int64_t BlocksPerMultiprocessor(const DeviceLimits& limits, const KernelInterface& kernel, int64_t threads,
                                int64_t dynamic_shared_bytes);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_DEVICE_LIMITS_H_
