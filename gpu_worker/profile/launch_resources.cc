#include "gpu_worker/profile/launch_resources.h"

#include <utility>

namespace warpsmith::profile {

DeviceShape ReadDeviceShape(const executor::CudaContext& context) {
  DeviceShape shape;
  shape.processors = context.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  shape.limits.threads = context.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  shape.limits.blocks = context.Attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  shape.limits.registers = context.Attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  shape.limits.shared_bytes = context.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  shape.limits.reserved_shared_bytes_per_block =
      context.Attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return shape;
}

absl::Status DescribeLaunch(const cuda::DriverApi& api, const DeviceShape& device, const v1::KernelLaunch& launch,
                            CUfunction function, v1::ProfileStep* step) {
  for (uint32_t size : {launch.grid_x(), launch.grid_y(), launch.grid_z()}) step->add_grid(size);
  for (uint32_t size : {launch.block_x(), launch.block_y(), launch.block_z()}) step->add_block(size);
  step->set_dynamic_shared_bytes(static_cast<int32_t>(launch.dynamic_shared_bytes()));
  int registers = 0, local = 0, shared = 0;
  const std::pair<CUfunction_attribute, int*> wanted[] = {{CU_FUNC_ATTRIBUTE_NUM_REGS, &registers},
                                                          {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local},
                                                          {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared}};
  for (const auto& [attribute, value] : wanted) {
    WARPSMITH_RETURN_IF_ERROR(
        cuda::CudaStatus(api, api.cuFuncGetAttribute(value, attribute, function), "cuFuncGetAttribute"));
  }
  step->set_registers(registers);
  step->set_local_bytes(local);
  step->set_static_shared_bytes(shared);
  const int threads = static_cast<int>(launch.block_x() * launch.block_y() * launch.block_z());
  int blocks = 0;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(
      api, api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, launch.dynamic_shared_bytes()),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  step->set_blocks_per_sm(blocks);
  const int warps = (threads + 31) / 32;
  if (device.limits.threads > 0) step->set_occupancy(32.0 * blocks * warps / device.limits.threads);
  step->set_occupancy_limiter(OccupancyLimiter(
      device.limits, {threads, registers, static_cast<int64_t>(shared) + launch.dynamic_shared_bytes()}));
  if (blocks > 0 && device.processors > 0) {
    step->set_waves(static_cast<double>(launch.grid_x()) * launch.grid_y() * launch.grid_z() /
                    (static_cast<double>(blocks) * device.processors));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::profile
