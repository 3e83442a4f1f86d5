#include <catch2/catch.hpp>

#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith::cuda {
namespace {

GpuReport Full() {
  GpuReport report;
  report.device.ordinal = 2;
  report.device.uuid = "GPU-abc";
  report.device.name = "NVIDIA H200";
  report.device.pageable_memory_access = true;
  report.device.memory_bytes = int64_t{140} << 30;
  report.device.power_limit_w = 700.5;
  DeviceState state;
  state.sm_mhz = 345;
  state.power_w = 76.25;
  state.throttle_reasons = kThrottleIdle | kThrottleHardwareThermal;
  state.row_remap_failed = false;
  state.other_processes = {GpuProcess{17, int64_t{5} << 30}, GpuProcess{18, std::nullopt}};
  report.state = state;
  return report;
}

TEST_CASE("a report survives its JSON, and what was not told stays untold", "[unit]") {
  const auto list = GpuListFromJson(GpuListToJson(std::vector<GpuReport>{Full(), GpuReport{}}));
  REQUIRE(list.ok());
  REQUIRE(list->size() == 2);
  const GpuReport& report = list->front();
  CHECK(report.device.ordinal == 2);
  CHECK(report.device.uuid == "GPU-abc");
  CHECK(report.device.pageable_memory_access);
  CHECK(report.device.memory_bytes == int64_t{140} << 30);
  CHECK(report.device.power_limit_w == 700.5);
  REQUIRE(report.state);
  CHECK(report.state->sm_mhz == 345);
  CHECK(report.state->power_w == 76.25);
  CHECK(report.state->Has(kThrottleThermal));
  CHECK(report.state->row_remap_failed == false);
  CHECK_FALSE(report.state->max_sm_mhz);
  CHECK_FALSE(report.state->mig);
  REQUIRE(report.state->other_processes);
  REQUIRE(report.state->other_processes->size() == 2);
  CHECK(report.state->other_processes->front().pid == 17);
  CHECK_FALSE(report.state->other_processes->back().memory_bytes);
  CHECK_FALSE(list->back().state);
  CHECK(GpuReportToJson(report) == GpuReportToJson(Full()));
}

TEST_CASE("a bad report is refused by the name of its field", "[unit]") {
  Json json = GpuReportToJson(Full());
  json["sm_count"] = "many";
  CHECK(Message(GpuReportFromJson(json).status()).find("sm_count") != std::string::npos);
  json = GpuReportToJson(Full());
  json.erase("uuid");
  CHECK(Message(GpuReportFromJson(json).status()).find("uuid") != std::string::npos);
  json = GpuReportToJson(Full());
  json["state"]["sm_mhz"] = true;
  CHECK_FALSE(GpuReportFromJson(json).ok());
  json = GpuReportToJson(Full());
  json["state"]["other_processes"] = {5};
  CHECK_FALSE(GpuReportFromJson(json).ok());
  for (const char* text : {"", "[]", "{}", "{\"gpus\": 3}", "{\"gpus\": [4]}"}) CHECK_FALSE(GpuListFromJson(text).ok());
}

TEST_CASE("why there is no list survives too", "[unit]") {
  const auto none = GpuListFromJson(GpuListToJson(NotFound("no driver")));
  CHECK(none.status().code() == absl::StatusCode::kNotFound);
  CHECK(Message(none.status()) == "no driver");
  CHECK(GpuListFromJson(GpuListToJson(Internal("broken"))).status().code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("throttle reasons are said in words", "[unit]") {
  CHECK(ThrottleText(0).empty());
  CHECK(ThrottleText(kThrottlePowerCap | kThrottleSoftwareThermal) == "power cap, heat (software)");
  CHECK(ThrottleText(0x4000).find("other") != std::string::npos);
}

}  // namespace
}  // namespace warpsmith::cuda
