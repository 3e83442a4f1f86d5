#include "gpu_worker/gpu_selection.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace warpsmith {

absl::StatusOr<std::vector<cuda::GpuDevice>> SelectGpus(std::string_view selection,
                                                        const std::vector<cuda::GpuReport>& gpus) {
  if (gpus.empty()) {
    return NotFound("--gpus: the driver shows no GPU here; use --gpus none for the emulated device");
  }
  std::set<int> wanted;
  if (selection == "all") {
    for (const cuda::GpuReport& gpu : gpus) wanted.insert(gpu.device.ordinal);
  } else {
    for (size_t at = 0; at <= selection.size();) {
      const size_t end = std::min(selection.find(',', at), selection.size());
      const std::string_view part = selection.substr(at, end - at);
      at = end + 1;
      int ordinal = -1;
      const auto [last, error] = std::from_chars(part.data(), part.data() + part.size(), ordinal);
      if (error != std::errc() || last != part.data() + part.size()) {
        return InvalidArgument(fmt::format("--gpus: \"{}\" is no number; say all, none, or numbers such as 0,2", part));
      }
      if (ordinal < 0 || ordinal >= static_cast<int>(gpus.size())) {
        return InvalidArgument(
            fmt::format("--gpus: there is no GPU {}; there are {} (0 to {})", ordinal, gpus.size(), gpus.size() - 1));
      }
      if (!wanted.insert(ordinal).second) {
        return InvalidArgument(fmt::format("--gpus: GPU {} stands there twice", ordinal));
      }
    }
  }
  std::vector<cuda::GpuDevice> selected;
  for (const cuda::GpuReport& gpu : gpus) {
    if (wanted.count(gpu.device.ordinal) != 0) selected.push_back(gpu.device);
  }
  return selected;
}

}  // namespace warpsmith
