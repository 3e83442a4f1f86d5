#include "gpu_worker/evaluate/device_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "common/log.h"

namespace warpsmith::evaluate {
namespace {

// "cuda" is the first one.
std::optional<int> OrdinalOf(const std::string& device) {
  if (device == "cuda") return 0;
  if (device.rfind("cuda:", 0) != 0) return std::nullopt;
  int ordinal = -1;
  const char* end = device.data() + device.size();
  auto [last, error] = std::from_chars(device.data() + 5, end, ordinal);
  if (error != std::errc() || last != end || ordinal < 0) return std::nullopt;
  return ordinal;
}

}  // namespace

absl::StatusOr<std::optional<cuda::GpuReport>> ChooseDevice(const std::string& device, cuda::GpuProbe& probe) {
  if (device == "emulated") return std::nullopt;
  const std::optional<int> ordinal = OrdinalOf(device);
  const bool automatic = device == "auto";
  const bool by_uuid = device.rfind("GPU-", 0) == 0;
  if (!automatic && !by_uuid && !ordinal) {
    return InvalidArgument(
        fmt::format("there is no device \"{}\"; use auto, emulated, cuda:N or a GPU's UUID", device));
  }
  // Without the driver's files there is nothing to ask.
  if (automatic && !std::filesystem::exists("/dev/nvidiactl") && !std::filesystem::exists("/dev/dxg")) {
    return std::nullopt;
  }
  absl::StatusOr<std::vector<cuda::GpuReport>> gpus = probe.List();
  if (!gpus.ok()) {
    if (!automatic) return Annotate(gpus.status(), device);
    spdlog::warn("there is an NVIDIA GPU here that cannot be used, so the emulated device is: {}",
                 Message(gpus.status()));
    return std::nullopt;
  }
  if (automatic) return gpus->empty() ? std::nullopt : std::optional(gpus->front());
  for (const cuda::GpuReport& gpu : *gpus) {
    if (by_uuid ? gpu.device.uuid == device : gpu.device.ordinal == *ordinal) return gpu;
  }
  return NotFound(fmt::format("{}: this machine shows {} GPU{}; `warpsmith doctor` lists them", device, gpus->size(),
                              gpus->size() == 1 ? "" : "s"));
}

}  // namespace warpsmith::evaluate
