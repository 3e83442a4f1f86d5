#include <catch2/catch.hpp>

#include "gpu_worker/device/cuda/device_monitor.h"
#include "gpu_worker/device/cuda/nvml_api.h"
#include "gpu_worker/device/cuda/xid_watch.h"

namespace warpsmith::cuda {
namespace {

TEST_CASE("the monitor reads what NVML tells", "[unit]") {
  CHECK(DriverVersion() == "580.159.04");
  CHECK(PowerLimitWatts("GPU-fake") == 700);
  auto monitor = MakeNvmlMonitor("GPU-fake");
  REQUIRE(monitor.ok());
  const auto state = (*monitor)->Read();
  REQUIRE(state.ok());
  CHECK(state->sm_mhz == 1001);
  CHECK(state->max_sm_mhz == 2001);
  CHECK(state->memory_mhz == 1002);
  CHECK(state->temperature_c == 61);
  CHECK(state->power_w == 345.6);
  CHECK(state->power_limit_w == 700);
  CHECK(state->throttle_reasons == (kThrottlePowerCap | kThrottleHardwareThermal));
  CHECK(state->memory_free_bytes == 60);
  CHECK(state->memory_total_bytes == 100);
  REQUIRE(state->other_processes);
  REQUIRE(state->other_processes->size() == 1);
  CHECK(state->other_processes->front().pid == 1);
  CHECK(state->other_processes->front().memory_bytes == 5000);
  CHECK(state->uncorrected_ecc_errors == 2);
  CHECK(state->row_remap_pending == true);
  CHECK(state->row_remap_failed == false);
  CHECK(state->exclusive_compute_mode == true);
  CHECK_FALSE(state->mig);  // this library lacks the function
  const auto clocks = (*monitor)->ReadClocks();
  REQUIRE(clocks.ok());
  CHECK(clocks->sm_mhz == 1001);
  CHECK_FALSE(clocks->power_w);
}

TEST_CASE("what NVML does not tell is unset, not an error", "[unit]") {
  auto monitor = MakeNvmlMonitor("GPU-mute");
  REQUIRE(monitor.ok());
  const auto state = (*monitor)->Read();
  REQUIRE(state.ok());
  CHECK_FALSE(state->sm_mhz);
  CHECK_FALSE(state->throttle_reasons);
  CHECK_FALSE(state->memory_free_bytes);
  CHECK_FALSE(state->other_processes);
  CHECK_FALSE(state->Has(~uint64_t{0}));
  CHECK(PowerLimitWatts("GPU-mute") == 0);
  CHECK_FALSE(MakeNvmlMonitor("GPU-other").ok());
}

TEST_CASE("Xid events come once, other events not at all", "[unit]") {
  auto watch = MakeNvmlXidWatch("GPU-fake");
  REQUIRE(watch.ok());
  CHECK((*watch)->Poll() == std::vector<int>{31});
  CHECK((*watch)->Poll().empty());
  CHECK_FALSE(MakeNvmlXidWatch("GPU-mute").ok());
}

}  // namespace
}  // namespace warpsmith::cuda
