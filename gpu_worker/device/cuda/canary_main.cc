// warpsmith-canary: looks at GPUs and tries them out, in a process that a hanging driver may keep.
#include <cstdio>
#include <string_view>

#include "common/version.h"
#include "gpu_worker/device/cuda/canary_run.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

int main(int argc, char** argv) {
  const std::string_view command = argc == 2 ? argv[1] : "";
  if (command == "list") {
    const auto reports = warpsmith::cuda::LookAtGpus();
    std::printf("%s\n", warpsmith::cuda::GpuListToJson(reports).c_str());
    return reports.ok() ? 0 : 1;
  }
  if (command == "check") {
    const auto figures = warpsmith::cuda::RunCanary();
    std::printf("%s\n", warpsmith::cuda::CanaryToJson(figures).c_str());
    return figures.ok() ? 0 : 1;
  }
  if (command == "--version") {
    std::printf("%s\n", warpsmith::kVersion);
    return 0;
  }
  std::fputs(
      "usage: warpsmith-canary list|check\n"
      "  list   the visible GPUs and how they do, as one line of JSON; makes no context\n"
      "  check  runs a kernel with a known result on the first visible GPU and times it, as one line of JSON\n",
      stderr);
  return 2;
}
