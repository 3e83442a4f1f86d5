#include "gpu_worker/device/cuda/gpu_probe.h"

#include <fmt/format.h>

#include "common/file.h"
#include "common/run_child.h"
#include "gpu_worker/device/cuda/child_environment.h"

namespace warpsmith::cuda {

absl::StatusOr<std::vector<GpuReport>> LookAtGpus() {
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<GpuDevice> gpus, ListGpus());
  std::vector<GpuReport> reports;
  for (const GpuDevice& gpu : gpus) {
    GpuReport report{gpu, std::nullopt};
    if (auto monitor = MakeNvmlMonitor(gpu.uuid); monitor.ok()) {
      if (auto state = (*monitor)->Read(); state.ok()) report.state = *state;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

absl::StatusOr<std::vector<GpuReport>> ProcessGpuProbe::List() {
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path program, FindProgram("warpsmith-canary"));
  ChildOptions child;
  child.arguments = {program.string(), "list"};
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit exit, RunChild(child, "", deadline_));
  if (exit.timed_out) {
    return DeadlineExceeded(
        fmt::format("the NVIDIA driver did not answer within {:.0f} s: a GPU hangs (see dmesg)", ToSeconds(deadline_)));
  }
  if (exit.signaled || exit.standard_output.empty()) {
    return Internal(fmt::format("looking at the GPUs failed: {}", exit.Describe()));
  }
  return GpuListFromJson(exit.standard_output);
}

absl::StatusOr<CanaryFigures> ProcessGpuProbe::Check(const std::string& gpu_uuid) {
  WARPSMITH_ASSIGN_OR_RETURN(ProcessCanaryOptions options, ProcessCanary::OptionsFor(gpu_uuid));
  ProcessCanary canary(std::move(options));
  WARPSMITH_RETURN_IF_ERROR(canary.Check());
  return *canary.last();
}

}  // namespace warpsmith::cuda
