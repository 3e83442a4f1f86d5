#include "gpu_worker/device/cuda/device_query.h"

#include <catch2/catch.hpp>

namespace warpsmith::cuda {
namespace {

GpuDevice H200() {
  GpuDevice gpu;
  gpu.uuid = "GPU-1";
  gpu.name = "NVIDIA H200";
  gpu.compute_capability = 90;
  gpu.sm_count = 132;
  gpu.memory_bytes = int64_t{140} << 30;
  gpu.l2_bytes = 60 << 20;
  gpu.static_shared_bytes = 48 << 10;
  gpu.shared_opt_in_bytes = 227 << 10;
  gpu.shared_per_sm_bytes = 228 << 10;
  gpu.shared_reserved_bytes = 1 << 10;
  gpu.threads_per_sm = 2048;
  gpu.blocks_per_sm = 32;
  gpu.registers_per_sm = 65536;
  gpu.memory_clock_khz = 3201000;
  gpu.memory_bus_bits = 6144;
  gpu.power_limit_w = 700;
  gpu.driver_version = "580.159.04";
  gpu.cuda_version = 13000;
  return gpu;
}

TEST_CASE("a GPU's bandwidth follows from clock and bus", "[unit]") {
  const GpuDevice gpu = H200();
  CHECK(gpu.PeakBandwidth() == Approx(4.917e12).epsilon(0.001));
  // What was measured of a copy must be within reach.
  CHECK(gpu.ReachableBandwidth() > 4.28e12);
  CHECK(gpu.ReachableBandwidth() < 4.4e12);
}

TEST_CASE("limits are the device's own, not its architecture's", "[unit]") {
  GpuDevice gpu = H200();
  gpu.shared_opt_in_bytes = 200 << 10;
  gpu.sm_count = 114;
  const plan::DeviceLimits limits = LimitsOf(gpu);
  CHECK_FALSE(limits.emulated);
  CHECK(limits.compute_capability == 90);
  CHECK(limits.sm_count == 114);
  CHECK(limits.shared_opt_in_bytes == 200 << 10);
  CHECK(limits.shared_per_sm_bytes == 228 << 10);
  CHECK(limits.memory_budget_bytes == gpu.memory_bytes);
  CHECK(limits.threads_per_sm == 2048);
  CHECK(limits.blocks_per_sm == 32);
}

TEST_CASE("a description carries what results are kept by", "[unit]") {
  const v1::DeviceDescription description = Describe(H200(), true);
  CHECK(description.device_class() == "NVIDIA H200 sm_90");
  CHECK(description.compute_capability() == 90);
  CHECK(description.driver() == "580.159.04");
  CHECK(description.cuda_version() == "13.0");
  CHECK(description.uuid() == "GPU-1");
  CHECK(description.power_limit_w() == 700);
  CHECK(description.l2_bytes() == 60 << 20);
  CHECK(description.toolkit());
  CHECK_FALSE(description.emulated());
  CHECK(CudaVersionText(12080) == "12.8");
  CHECK(CudaVersionText(0).empty());
}

}  // namespace
}  // namespace warpsmith::cuda
