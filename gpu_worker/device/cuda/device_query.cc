#include "gpu_worker/device/cuda/device_query.h"

#include <fmt/format.h>

namespace warpsmith::cuda {

std::string CudaVersionText(int version) {
  return version <= 0 ? std::string() : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

plan::DeviceLimits LimitsOf(const GpuDevice& device) {
  plan::DeviceLimits limits = plan::DeviceLimits::ForArchitecture(device.compute_capability);
  limits.emulated = false;
  limits.sm_count = device.sm_count;
  limits.memory_budget_bytes = device.memory_bytes;
  limits.static_shared_bytes = device.static_shared_bytes;
  limits.shared_opt_in_bytes = device.shared_opt_in_bytes;
  limits.shared_per_sm_bytes = device.shared_per_sm_bytes;
  limits.shared_reserved_bytes = device.shared_reserved_bytes;
  limits.threads_per_sm = device.threads_per_sm;
  limits.blocks_per_sm = device.blocks_per_sm;
  limits.registers_per_sm = device.registers_per_sm;
  return limits;
}

v1::DeviceDescription Describe(const GpuDevice& device, bool toolkit) {
  v1::DeviceDescription description;
  description.set_name(device.name);
  description.set_device_class(device.DeviceClass());
  description.set_compute_capability(device.compute_capability);
  description.set_memory_bytes(device.memory_bytes);
  description.set_sm_count(device.sm_count);
  description.set_driver(device.driver_version);
  description.set_toolkit(toolkit);
  description.set_uuid(device.uuid);
  description.set_power_limit_w(device.power_limit_w);
  description.set_l2_bytes(device.l2_bytes);
  description.set_memory_bandwidth(device.PeakBandwidth());
  description.set_cuda_version(CudaVersionText(device.cuda_version));
  return description;
}

}  // namespace warpsmith::cuda
