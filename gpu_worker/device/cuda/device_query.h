// The GPUs of this machine, as the driver describes them. No context is made, so looking costs no memory on any GPU.
// Threading: safe from any thread. Units: bytes, kHz, watts, as the names say.
// Errors: NotFound without a driver, FailedPrecondition in a build without CUDA's headers; no GPU is an empty list.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_DEVICE_QUERY_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_DEVICE_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/device_limits.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::cuda {

// What a copy reaches of the product of memory clock and bus width (0.87 on an H200); nothing real goes faster.
inline constexpr double kReachableBandwidthShare = 0.88;

struct GpuDevice {
  int ordinal = 0;             // among the visible GPUs in the order of their PCI ids: what `cuda:N` means
  std::string uuid;            // "GPU-...": what a child's CUDA_VISIBLE_DEVICES names
  std::string name;            // "NVIDIA H200"
  std::string pci_bus_id;      // "0000:18:00.0"
  int compute_capability = 0;  // 90
  int sm_count = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t persisting_l2_bytes = 0;
  int64_t static_shared_bytes = 0;  // a block, without opting in
  int64_t shared_opt_in_bytes = 0;
  int64_t shared_per_sm_bytes = 0;
  int64_t shared_reserved_bytes = 0;
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  int registers_per_sm = 0;
  bool pageable_memory_access = false;  // kernels can read this process's ordinary memory
  int clock_khz = 0;                    // highest of the multiprocessors
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  double power_limit_w = 0;    // 0: not told
  std::string driver_version;  // "580.159.04"; empty: not told
  int cuda_version = 0;        // 13000 for 13.0: what the driver supports

  // Bytes a second of reads and writes together: double data rate times the bus, and what of it can be reached.
  double PeakBandwidth() const { return 2e3 * memory_clock_khz * memory_bus_bits / 8; }
  double ReachableBandwidth() const { return PeakBandwidth() * kReachableBandwidthShare; }
  std::string Architecture() const { return "sm_" + std::to_string(compute_capability); }
  // Results are kept by it: "NVIDIA H200 sm_90".
  std::string DeviceClass() const { return name + " " + Architecture(); }
};

absl::StatusOr<std::vector<GpuDevice>> ListGpus();

// "13.0" for 13000; empty for 0.
std::string CudaVersionText(int version);

// memory_budget_bytes is the GPU's whole memory: what else lies there is the caller's to take off.
plan::DeviceLimits LimitsOf(const GpuDevice& device);

// `toolkit`: NVRTC is present.
v1::DeviceDescription Describe(const GpuDevice& device, bool toolkit);

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_DEVICE_QUERY_H_
