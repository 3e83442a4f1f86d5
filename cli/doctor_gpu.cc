#include "cli/doctor_gpu.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "common/file.h"
#include "gpu_worker/library/shared_library.h"
#include "gpu_worker/profile/cupti_paths.h"

namespace warpsmith::cli {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kSlowCopyShare = 0.6;  // of the peak; a healthy GPU reaches 0.8 to 0.9

constexpr char kNoGpu[] =
    "searches run on the emulated device: good for trying everything out, its times say nothing about a GPU";

// Findings join: the worst level, all remedies.
void Worsen(Finding& finding, Finding::Level level, std::string_view found, std::string_view remedy) {
  finding.level = std::max(finding.level, level);
  finding.found.append("; ").append(found);
  if (!finding.remedy.empty()) finding.remedy += "; ";
  finding.remedy += remedy;
}

void AddState(const cuda::DeviceState& state, Finding& finding) {
  if (state.memory_free_bytes && state.memory_total_bytes) {
    finding.found += fmt::format(", {:.1f} of {:.1f} GiB free", static_cast<double>(*state.memory_free_bytes) / kGib,
                                 static_cast<double>(*state.memory_total_bytes) / kGib);
  }
  if (state.sm_mhz && state.max_sm_mhz) {
    finding.found += fmt::format(", {} MHz now of {}", *state.sm_mhz, *state.max_sm_mhz);
  }
  if (state.power_w) {
    finding.found += fmt::format(", {:.0f} W", *state.power_w);
    if (state.power_limit_w) finding.found += fmt::format(" of {:.0f}", *state.power_limit_w);
  }
  if (state.temperature_c) finding.found += fmt::format(", {} °C", *state.temperature_c);
  if (state.throttle_reasons && *state.throttle_reasons != 0) {
    finding.found += fmt::format(", clocks held by: {}", cuda::ThrottleText(*state.throttle_reasons));
  }
}

void JudgeState(const cuda::DeviceState& state, Finding& finding) {
  if (state.Has(cuda::kThrottleThermal | cuda::kThrottlePowerBrake)) {
    Worsen(finding, Finding::kWarn, "it is slowed down", "times would be wrong: see to cooling and power");
  }
  if (state.other_processes && !state.other_processes->empty()) {
    std::string pids;
    for (const cuda::GpuProcess& process : *state.other_processes) {
      pids.append(pids.empty() ? "" : ", ").append(std::to_string(process.pid));
    }
    Worsen(finding, Finding::kWarn, "other processes compute on it: " + pids,
           "times are only good on a GPU of one's own: stop them");
  }
  if (state.exclusive_compute_mode.value_or(false)) {
    Worsen(finding, Finding::kFail, "one process at a time may use it", "set `nvidia-smi -c DEFAULT`");
  }
  if (state.mig.value_or(false)) {
    Worsen(finding, Finding::kWarn, "it is cut into MIG slices", "times of a slice say little about a whole GPU");
  }
  if (state.row_remap_failed.value_or(false)) {
    Worsen(finding, Finding::kFail, "its memory has rows beyond repair", "replace it");
  } else if (state.row_remap_pending.value_or(false)) {
    Worsen(finding, Finding::kWarn, "a memory row waits to be remapped", "reset it: `nvidia-smi --gpu-reset`");
  }
  if (state.uncorrected_ecc_errors.value_or(0) > 0) {
    Worsen(finding, Finding::kWarn,
           fmt::format("{} uncorrected memory errors since boot", *state.uncorrected_ecc_errors),
           "look at `nvidia-smi -q -d ECC`");
  }
}

Finding DescribeGpu(const cuda::GpuReport& report) {
  const cuda::GpuDevice& gpu = report.device;
  Finding finding;
  finding.check = fmt::format("gpu {}", gpu.ordinal);
  finding.found = fmt::format("{}, {}, {} multiprocessors", gpu.name, gpu.Architecture(), gpu.sm_count);
  if (report.state) {
    AddState(*report.state, finding);
  } else {
    finding.found += fmt::format(", {:.1f} GiB", static_cast<double>(gpu.memory_bytes) / kGib);
    Worsen(finding, Finding::kWarn, "clocks and power cannot be read (no NVML)",
           "slowed-down samples cannot be told: install the driver's libnvidia-ml.so.1");
  }
  if (gpu.pageable_memory_access) {
    Worsen(finding, Finding::kFail, "kernels can read ordinary host memory",
           "candidates are not run there: load the driver with `options nvidia_uvm uvm_disable_hmm=1`");
  }
  if (report.state) JudgeState(*report.state, finding);
  return finding;
}

Finding TryGpu(cuda::GpuProbe& probe, const cuda::GpuDevice& gpu, Json& json) {
  Finding finding;
  finding.check = fmt::format("canary {}", gpu.ordinal);
  const absl::StatusOr<cuda::CanaryFigures> figures = probe.Check(gpu.uuid);
  if (!figures.ok()) {
    json["canary"] = {{"error", Message(figures.status())}};
    finding.level = Finding::kFail;
    finding.found = Message(figures.status());
    finding.remedy = "look at `dmesg | grep Xid` and nvidia-smi -q; reset the GPU";
    return finding;
  }
  const double peak = gpu.PeakBandwidth();
  const double share = peak > 0 ? figures->copy_bytes_per_second / peak : 0;
  json["canary"] = {{"kernel_ms", figures->kernel_ms},
                    {"copy_bytes_per_second", figures->copy_bytes_per_second},
                    {"copy_share_of_peak", share},
                    {"seconds", figures->seconds}};
  finding.found =
      fmt::format("right; {:.3f} ms, copies {:.0f} GB/s", figures->kernel_ms, figures->copy_bytes_per_second / 1e9);
  if (peak > 0) finding.found += fmt::format(" ({:.0f} % of {:.0f})", 100 * share, peak / 1e9);
  finding.found += fmt::format(", {:.1f} s in all", figures->seconds);
  if (peak > 0 && share < kSlowCopyShare) {
    Worsen(finding, Finding::kWarn, "its memory is slow", "is something else running on it, or is it slowed down?");
  }
  return finding;
}

}  // namespace

GpuDiagnosis DiagnoseGpus(cuda::GpuProbe& probe, bool device_files) {
  GpuDiagnosis diagnosis;
  const auto reports = probe.List();
  if (!reports.ok()) {
    // A machine without any trace of a GPU simply has none.
    if (!device_files) {
      diagnosis.findings.push_back({Finding::kWarn, "gpu", "none", kNoGpu});
    } else {
      diagnosis.findings.push_back({Finding::kFail, "gpu", Message(reports.status()),
                                    "there is a GPU here that cannot be used: see what nvidia-smi says"});
    }
    return diagnosis;
  }
  if (reports->empty()) {
    diagnosis.findings.push_back({Finding::kWarn, "gpu", "the driver shows none", kNoGpu});
    return diagnosis;
  }
  const cuda::GpuDevice& first = reports->front().device;
  diagnosis.findings.push_back(
      {Finding::kOk, "gpu",
       fmt::format("{} NVIDIA device{}, driver {}, CUDA {}", reports->size(), reports->size() == 1 ? "" : "s",
                   first.driver_version.empty() ? "of unknown version" : first.driver_version,
                   cuda::CudaVersionText(first.cuda_version)),
       ""});
  for (const cuda::GpuReport& report : *reports) {
    Json json = cuda::GpuReportToJson(report);
    diagnosis.findings.push_back(DescribeGpu(report));
    diagnosis.findings.push_back(TryGpu(probe, report.device, json));
    diagnosis.gpus.push_back(std::move(json));
  }
  return diagnosis;
}

Finding CheckCounters(const std::filesystem::path& parameters, bool administrator) {
  const absl::StatusOr<std::string> text = ReadFile(parameters, 65536);
  const bool restricted = text.ok() && text->find("RmProfilingAdminOnly: 1") != std::string::npos;
  const bool open = text.ok() && text->find("RmProfilingAdminOnly: 0") != std::string::npos;
  if (open) return {Finding::kOk, "counters", "open to everybody", ""};
  if (administrator) return {Finding::kOk, "counters", "open to this user, who is an administrator", ""};
  if (!restricted) {
    return {Finding::kWarn, "counters", "the driver does not say whether they may be read",
            "without them kernels are not profiled, and everything else works"};
  }
  return {Finding::kWarn, "counters", "for administrators only",
          "kernels are not profiled: load the driver with `options nvidia NVreg_RestrictProfilingToAdminUsers=0`, or "
          "give the worker CAP_SYS_ADMIN"};
}

std::vector<Finding> CheckLibraries() {
  const std::vector<std::string> folders = library::FindLibraryFolders();
  const auto find = [&folders](std::initializer_list<const char*> names) {
    for (const std::string& folder : folders) {
      for (const char* name : names) {
        const std::filesystem::path file = std::filesystem::path(folder) / name;
        std::error_code error;
        if (std::filesystem::exists(file, error)) return file.string();
      }
    }
    return std::string();
  };
  const std::vector<std::string> cupti = profile::FindCupti();
  const std::pair<const char*, std::string> found[] = {
      {"cublas", find({"libcublas.so.13", "libcublas.so.12", "libcublas.so"})},
      {"cudnn", find({"libcudnn.so.9", "libcudnn.so"})},
      {"cupti", cupti.empty() ? std::string() : cupti.front()}};
  std::vector<Finding> findings;
  for (const auto& [check, file] : found) {
    if (!file.empty()) {
      findings.push_back({Finding::kOk, check, file, ""});
    } else {
      const bool profiling = std::string_view(check) == "cupti";
      findings.push_back({Finding::kWarn, check, "not found",
                          profiling ? "kernels are not profiled: install CUDA's CUPTI, or name the toolkit's folder in "
                                      "WARPSMITH_CUDA_PATH"
                                    : "library steps that need it are refused: install it with the CUDA toolkit or a "
                                      "Python wheel"});
    }
  }
  return findings;
}

}  // namespace warpsmith::cli
