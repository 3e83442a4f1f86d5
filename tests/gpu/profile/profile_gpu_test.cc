// The profiler on a GPU: known traffic and work, the bound that each kernel has, and ncu's figures for the same
// kernels. One line a check; exits with 1 if one failed. `--plain CASE FILE` launches a case in this process, for ncu.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/file.h"
#include "gpu_worker/device/cuda/child_environment.h"
#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/profile/cupti_paths.h"
#include "gpu_worker/profile/figures.h"
#include "gpu_worker/profile/process_profiler.h"
#include "tests/gpu/profile/cases.h"
#include "tests/gpu/profile/ncu.h"

namespace warpsmith::profile_test {
namespace {

using profile::Value;
namespace metric = profile::metric;

int failures = 0;

void Check(bool ok, const std::string& what) {
  std::printf("%-6s %s\n", ok ? "ok" : "FAILED", what.c_str());
  std::fflush(stdout);
  if (!ok) ++failures;
}

void CheckNear(const std::string& what, double got, double want, double tolerance) {
  const double off = want != 0 ? got / want - 1 : got;
  Check(std::abs(off) <= tolerance, fmt::format("{}: {:.6g}, {:.6g} expected ({:+.2f} %, {:.0f} % allowed)", what, got,
                                                want, 100 * off, 100 * tolerance));
}

struct Gpu {
  const cuda::DriverApi* api = nullptr;
  int processors = 0;
  int compute_capability = 0;
  std::string uuid;
};

absl::StatusOr<Gpu> OpenGpu() {
  Gpu gpu;
  WARPSMITH_ASSIGN_OR_RETURN(gpu.api, cuda::DriverApi::Load());
  const cuda::DriverApi& api = *gpu.api;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuInit(0), "cuInit"));
  CUdevice device = 0;
  CUcontext context = nullptr;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuDeviceGet(&device, 0), "cuDeviceGet"));
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api, api.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuCtxSetCurrent(context), "cuCtxSetCurrent"));
  int major = 0, minor = 0;
  api.cuDeviceGetAttribute(&gpu.processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  api.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  api.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  gpu.compute_capability = 10 * major + minor;
  CUuuid uuid;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid"));
  gpu.uuid = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) gpu.uuid += '-';
    gpu.uuid += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return gpu;
}

void PrintProfile(const std::string& name, const v1::Profile& profile) {
  std::printf("\n%s: %s\n", name.c_str(), profile.summary().c_str());
  for (const v1::ProfileFigure& figure : profile.figures()) {
    std::printf("       %-75s %10.4g %s\n", figure.name().c_str(), figure.value(), figure.unit().c_str());
  }
  const v1::ProfileRoofline& roof = profile.roofline();
  std::printf(
      "       roofline: %.3g of %.3g TB/s, %.3g of %.3g TFLOP/s %s, %.3g operations a byte, %.1f %% of the roof\n",
      roof.bytes_per_second() * 1e-12, roof.peak_bytes_per_second() * 1e-12, roof.flops_per_second() * 1e-12,
      roof.peak_flops_per_second() * 1e-12, roof.arithmetic().c_str(), roof.arithmetic_intensity(), 100 * roof.share());
  for (const v1::ProfileStep& step : profile.steps()) {
    std::printf(
        "       step %s: %d launches, %.4g ms, %.1f %%, %d registers, %d B shared, occupancy %.0f %% (%s), %.2f "
        "waves, %s\n",
        step.kernel().c_str(), step.launches(), step.time_ms(), 100 * step.share(), step.registers(),
        step.static_shared_bytes() + step.dynamic_shared_bytes(), 100 * step.occupancy(),
        step.occupancy_limiter().c_str(), step.waves(), step.bound_by().c_str());
  }
  std::printf("       plan %.4g ms, kernels %.4g ms, %d passes, %.2f s, chip %s\n", profile.plan_ms(),
              profile.kernel_ms(), profile.passes(), profile.seconds(), profile.chip().c_str());
  if (std::getenv("WARPSMITH_ALL_METRICS") != nullptr) {
    for (const auto& [metric_name, value] : profile.metrics()) {
      std::printf("       raw %s %.17g\n", metric_name.c_str(), value);
    }
  }
  std::fflush(stdout);
}

struct Bench {
  Gpu gpu;
  std::string cubin_path;
  profile::ProcessProfilerOptions options;

  absl::StatusOr<v1::Profile> Profile(const std::string& name) {
    const Case what = MakeCase(name, gpu.processors);
    WARPSMITH_ASSIGN_OR_RETURN(const Buffers buffers, Buffers::Allocate(*gpu.api, what.plan));
    executor::ExecutorSpec spec;
    spec.artifact_path = cubin_path;
    spec.plan = what.plan;
    spec.slots = {buffers.shared()};
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<v1::Profile> profile = profile::ProcessProfiler(options).Run(spec, {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!profile.ok()) {
      Check(false, fmt::format("{}: {}", name, Message(profile.status())));
      return profile;
    }
    PrintProfile(name, *profile);
    if (!profile->unavailable_reason().empty() && options.restrict_files) {
      // Which of the two it is: the machine, or this test's own restriction.
      options.restrict_files = false;
      const absl::StatusOr<v1::Profile> open = profile::ProcessProfiler(options).Run(spec, {});
      if (open.ok() && open->unavailable_reason().empty()) Check(false, "Landlock keeps CUPTI from its files");
    }
    Check(profile->unavailable_reason().empty(),
          fmt::format("{}: counters are there ({:.2f} s wall){}", name, seconds, profile->unavailable_reason()));
    return profile;
  }
};

void CheckBound(const std::string& name, const v1::Profile& profile, const std::string& bound) {
  Check(profile.bound_by() == bound, fmt::format("{}: bound by {}, {} expected", name, profile.bound_by(), bound));
}

const char* const kCompared[] = {"gpu__time_duration.sum",
                                 "dram__bytes_read.sum",
                                 "dram__bytes_write.sum",
                                 "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "lts__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "lts__t_sector_hit_rate.pct",
                                 "l1tex__t_sector_hit_rate.pct",
                                 "sm__warps_active.avg.pct_of_peak_sustained_active",
                                 "smsp__issue_active.avg.pct_of_peak_sustained_active",
                                 "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
                                 "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                 "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                 "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                                 "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"};

// Within 5 %; rates near zero within one point, counts near zero of no weight.
void CompareWithNcu(const Bench& bench, const std::string& ncu, const std::string& self, const std::string& name,
                    const v1::Profile& profile) {
  const auto theirs =
      RunNcu(ncu, {std::begin(kCompared), std::end(kCompared)}, {self, "--plain", name, bench.cubin_path});
  if (!theirs.ok()) {
    std::printf("skip   %s: ncu does not run here: %.600s\n", name.c_str(), Message(theirs.status()).c_str());
    return;
  }
  std::printf("\n%s against ncu%*s %14s %14s\n", name.c_str(), 56 - static_cast<int>(name.size()), "", "ours", "ncu");
  for (const char* which : kCompared) {
    auto found = theirs->find(which);
    if (found == theirs->end()) continue;
    const double ours = Value(profile.metrics(), which), other = found->second;
    const bool share = std::strstr(which, "pct") != nullptr;
    const bool count = std::strstr(which, ".sum") != nullptr;
    const double slack = share ? 1 : count ? 1e4 : 0.05;
    const double off = other != 0 ? 100 * (ours / other - 1) : 0;
    Check(std::abs(ours - other) <= std::max(0.05 * std::abs(other), slack),
          fmt::format("{:<70} {:>14.6g} {:>14.6g} {:+.2f} %", which, ours, other, off));
  }
}

int RunAll(const std::string& self) {
  const absl::StatusOr<Gpu> gpu = OpenGpu();
  if (!gpu.ok()) {
    Check(false, Message(gpu.status()));
    return 1;
  }
  auto folder = TemporaryDirectory::Create("profile-gpu-test");
  auto cubin = CompileKernels(gpu->compute_capability);
  auto program = FindProgram("warpsmith-profiler");
  for (const absl::Status& status : {folder.status(), cubin.status(), program.status()}) {
    if (!status.ok()) Check(false, Message(status));
  }
  if (failures > 0) return 1;
  const std::string path = (folder->path() / "kernels.cubin").string();
  if (!WriteFileAtomically(path, *cubin).ok()) return 1;
  profile::ProcessProfilerOptions options;
  options.program = program->string();
  options.environment = cuda::ChildEnvironment(gpu->uuid);
  options.cupti_paths = profile::FindCupti();
  Bench bench{*gpu, path, options};

  const auto copy = bench.Profile("copy");
  if (copy.ok()) {
    const auto bytes = static_cast<double>(kCopyBytes);
    CheckNear("copy: DRAM bytes read", Value(copy->metrics(), metric::kDramRead), bytes, 0.05);
    CheckNear("copy: DRAM bytes written", Value(copy->metrics(), metric::kDramWrite), bytes, 0.05);
    CheckNear("copy: sectors a load of 16 bytes a thread", Value(copy->metrics(), metric::kLoadSectors), 16, 0.05);
    Check(
        copy->roofline().peak_bytes_per_second() > 4e11 && copy->roofline().peak_bytes_per_second() < 2e13,
        fmt::format("copy: peak of the memory {}", profile::Quantity(copy->roofline().peak_bytes_per_second(), "B/s")));
    CheckBound("copy", *copy, "dram_bandwidth");
  }
  const auto matmul = bench.Profile("matmul");
  if (matmul.ok()) {
    const double n = kMatrixSize;
    CheckNear("matmul: fused multiply-adds",
              Value(matmul->metrics(), "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), n * n * n, 0.05);
    // Both operands at least once, and the result once.
    Check(Value(matmul->metrics(), metric::kDramRead) > 0.95 * 8 * n * n, "matmul: both operands are read");
    CheckBound("matmul", *matmul, "compute_fp32");
  }
  if (const auto profile = bench.Profile("conflicts"); profile.ok()) {
    CheckBound("conflicts", *profile, "shared_memory");
    Check(profile::ConflictShare(profile->metrics()) > 0.9,
          fmt::format("conflicts: {:.1f} % of shared memory's cycles are conflicts, 31 of 32 expected",
                      100 * profile::ConflictShare(profile->metrics())));
  }
  if (const auto profile = bench.Profile("chase"); profile.ok()) CheckBound("chase", *profile, "latency");
  if (const auto profile = bench.Profile("tiny"); profile.ok()) {
    CheckBound("tiny", *profile, "launch_overhead");
    Check(profile->steps_size() == 2, "tiny: two kinds of steps, the kernel and the memset");
  }
  if (const auto both = bench.Profile("two"); both.ok() && copy.ok() && matmul.ok()) {
    Check(both->steps_size() == 2, "two: two steps");
    for (const v1::ProfileStep& step : both->steps()) {
      const v1::Profile& alone = step.kernel() == "copy_all" ? *copy : *matmul;
      CheckNear(fmt::format("two: time of {} as alone", step.kernel()), step.time_ms(), alone.kernel_ms(), 0.1);
      CheckNear(fmt::format("two: DRAM bytes of {} as alone", step.kernel()), Value(step.metrics(), metric::kDramRead),
                Value(alone.metrics(), metric::kDramRead), 0.1);
    }
  }
  // Counters that cannot be had: the rest is delivered.
  profile::ProcessProfilerOptions none = options;
  none.cupti_paths.clear();
  const Case what = MakeCase("matmul", gpu->processors);
  if (auto buffers = Buffers::Allocate(*gpu->api, what.plan); buffers.ok()) {
    executor::ExecutorSpec spec;
    spec.artifact_path = path;
    spec.plan = what.plan;
    spec.slots = {buffers->shared()};
    const auto profile = profile::ProcessProfiler(none).Run(spec, {});
    Check(profile.ok() && !profile->unavailable_reason().empty() && profile->steps_size() == 1 &&
              profile->steps(0).registers() > 0 && profile->steps(0).occupancy() > 0,
          fmt::format("without CUPTI: {}", profile.ok() ? profile->summary() : Message(profile.status())));
  }
  const std::string ncu = FindNcu();
  if (ncu.empty()) std::printf("skip   ncu is not on this machine\n");
  if (!ncu.empty() && copy.ok()) CompareWithNcu(bench, ncu, self, "copy", *copy);
  if (!ncu.empty() && matmul.ok()) CompareWithNcu(bench, ncu, self, "matmul", *matmul);
  std::printf("\n%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}

int RunPlain(const std::string& name, const std::string& cubin_path) {
  const absl::StatusOr<Gpu> gpu = OpenGpu();
  const auto cubin = ReadFile(cubin_path);
  if (!gpu.ok() || !cubin.ok()) return 1;
  return LaunchHere(*gpu->api, *cubin, MakeCase(name, gpu->processors)).ok() ? 0 : 1;
}

}  // namespace
}  // namespace warpsmith::profile_test

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--plain") == 0) return warpsmith::profile_test::RunPlain(argv[2], argv[3]);
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  return warpsmith::profile_test::RunAll(self);
}
