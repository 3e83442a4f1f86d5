#include <catch2/catch.hpp>

#include "gpu_worker/device/cuda/device_query.h"
#include "gpu_worker/device/cuda/driver_api.h"

namespace warpsmith::cuda {
namespace {

TEST_CASE("GPUs are counted by PCI id, whatever the driver's order", "[unit]") {
  const auto gpus = ListGpus();
  INFO(Message(gpus.status()));
  REQUIRE(gpus.ok());
  REQUIRE(gpus->size() == 2);
  const GpuDevice& first = gpus->front();
  CHECK(first.ordinal == 0);
  CHECK(first.name == "Fake Slow");
  CHECK(first.compute_capability == 89);
  CHECK(first.pci_bus_id == "0000:18:00.0");
  CHECK(first.uuid == "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe01");
  CHECK(first.memory_bytes == int64_t{24} << 30);
  CHECK(first.driver_version == "580.159.04");
  CHECK(first.cuda_version == 13000);
  CHECK(first.power_limit_w == 700);
  CHECK(first.DeviceClass() == "Fake Slow sm_89");
  CHECK(gpus->back().ordinal == 1);
  CHECK(gpus->back().compute_capability == 90);
}

TEST_CASE("a driver that lacks a function that is only useful is taken all the same", "[unit]") {
  const auto api = DriverApi::Load();
  INFO(Message(api.status()));
  REQUIRE(api.ok());
  CHECK((*api)->cuLaunchKernelEx != nullptr);
#if CUDA_VERSION >= 12040
  CHECK((*api)->cuFuncLoad == nullptr);  // the fake is older
#endif
}

}  // namespace
}  // namespace warpsmith::cuda
