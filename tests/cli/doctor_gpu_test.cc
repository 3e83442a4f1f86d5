#include "cli/doctor_gpu.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "common/file.h"

namespace warpsmith::cli {
namespace {

cuda::GpuReport Healthy() {
  cuda::GpuReport report;
  report.device.uuid = "GPU-1";
  report.device.name = "NVIDIA H200";
  report.device.compute_capability = 90;
  report.device.sm_count = 132;
  report.device.driver_version = "580.159.04";
  report.device.cuda_version = 13000;
  report.device.memory_clock_khz = 800000;  // what makes the fake canary's copy 80 % of the peak
  report.device.memory_bus_bits = 6144;
  cuda::DeviceState state;
  state.sm_mhz = 345;
  state.max_sm_mhz = 1980;
  state.power_w = 76;
  state.power_limit_w = 700;
  state.temperature_c = 31;
  state.memory_free_bytes = int64_t{139} << 30;
  state.memory_total_bytes = int64_t{140} << 30;
  state.throttle_reasons = cuda::kThrottleIdle;
  state.other_processes.emplace();
  report.state = state;
  return report;
}

const Finding& Named(const GpuDiagnosis& diagnosis, const std::string& check) {
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [&check](const Finding& finding) { return finding.check == check; });
  REQUIRE(found != diagnosis.findings.end());
  return *found;
}

TEST_CASE("a healthy GPU is described", "[unit]") {
  cuda::FakeGpuProbe probe;
  probe.gpus = {Healthy()};
  const GpuDiagnosis diagnosis = DiagnoseGpus(probe, true);
  CHECK(Named(diagnosis, "gpu").found == "1 NVIDIA device, driver 580.159.04, CUDA 13.0");
  const Finding& gpu = Named(diagnosis, "gpu 0");
  CHECK(gpu.level == Finding::kOk);
  CHECK(gpu.remedy.empty());
  CHECK(gpu.found ==
        "NVIDIA H200, sm_90, 132 multiprocessors, 139.0 of 140.0 GiB free, 345 MHz now of 1980, 76 W of 700, 31 °C, "
        "clocks held by: idle");
  const Finding& canary = Named(diagnosis, "canary 0");
  CHECK(canary.level == Finding::kOk);
  CHECK_THAT(canary.found, Catch::Contains("copies 1000 GB/s (81 % of 1229)"));
  REQUIRE(diagnosis.gpus.size() == 1);
  CHECK(diagnosis.gpus[0]["uuid"] == "GPU-1");
  CHECK(diagnosis.gpus[0]["state"]["sm_mhz"] == 345);
  CHECK(diagnosis.gpus[0]["canary"]["kernel_ms"] == 1.0);
}

TEST_CASE("what is wrong with a GPU comes with its remedy, the worst deciding", "[unit]") {
  cuda::FakeGpuProbe probe;
  cuda::GpuReport bad = Healthy();
  bad.state->other_processes = {cuda::GpuProcess{4711, std::nullopt}};
  bad.state->throttle_reasons = cuda::kThrottleHardwareThermal;
  bad.device.memory_clock_khz = 4000000;
  probe.gpus = {bad};
  GpuDiagnosis diagnosis = DiagnoseGpus(probe, true);
  CHECK(Named(diagnosis, "gpu 0").level == Finding::kWarn);
  CHECK_THAT(Named(diagnosis, "gpu 0").found, Catch::Contains("4711") && Catch::Contains("slowed down"));
  CHECK_THAT(Named(diagnosis, "gpu 0").remedy, Catch::Contains("stop them") && Catch::Contains("cooling"));
  CHECK(Named(diagnosis, "canary 0").level == Finding::kWarn);
  bad.device.pageable_memory_access = true;
  probe.gpus = {bad};
  probe.Fail("GPU-1", MakeStatus(absl::StatusCode::kDataLoss, "element 3 is wrong"));
  diagnosis = DiagnoseGpus(probe, true);
  CHECK(Named(diagnosis, "gpu 0").level == Finding::kFail);
  CHECK(Named(diagnosis, "canary 0").level == Finding::kFail);
  CHECK(diagnosis.gpus[0]["canary"]["error"] == "element 3 is wrong");
  for (const Finding& finding : diagnosis.findings) {
    CHECK((finding.level == Finding::kOk) == finding.remedy.empty());
  }
}

TEST_CASE("a GPU without NVML is used with a warning", "[unit]") {
  cuda::FakeGpuProbe probe;
  cuda::GpuReport mute = Healthy();
  mute.state.reset();
  probe.gpus = {mute};
  CHECK(Named(DiagnoseGpus(probe, true), "gpu 0").level == Finding::kWarn);
}

TEST_CASE("no GPU is no failure, a GPU that cannot be used is", "[unit]") {
  cuda::FakeGpuProbe probe;
  CHECK(Named(DiagnoseGpus(probe, false), "gpu").level == Finding::kWarn);
  class Broken final : public cuda::GpuProbe {
    absl::StatusOr<std::vector<cuda::GpuReport>> List() override { return NotFound("no driver"); }
    absl::StatusOr<cuda::CanaryFigures> Check(const std::string&) override { return Internal("not asked for"); }
  } broken;
  CHECK(Named(DiagnoseGpus(broken, false), "gpu").level == Finding::kWarn);
  CHECK(Named(DiagnoseGpus(broken, true), "gpu").level == Finding::kFail);
  CHECK(DiagnoseGpus(broken, true).gpus.empty());
}

TEST_CASE("hardware counters: open, for administrators, or not told", "[unit]") {
  const TemporaryDirectory folder = *TemporaryDirectory::Create("doctor-test");
  const auto parameters = folder.path() / "params";
  REQUIRE(WriteFileAtomically(parameters, "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n").ok());
  CHECK(CheckCounters(parameters, false).level == Finding::kWarn);
  CHECK_THAT(CheckCounters(parameters, false).remedy, Catch::Contains("NVreg_RestrictProfilingToAdminUsers=0"));
  CHECK(CheckCounters(parameters, true).level == Finding::kOk);
  REQUIRE(WriteFileAtomically(parameters, "RmProfilingAdminOnly: 0\n").ok());
  CHECK(CheckCounters(parameters, false).level == Finding::kOk);
  CHECK(CheckCounters(folder.path() / "missing", false).level == Finding::kWarn);
}

}  // namespace
}  // namespace warpsmith::cli
