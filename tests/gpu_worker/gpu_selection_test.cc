#include "gpu_worker/gpu_selection.h"

#include <catch2/catch.hpp>

namespace warpsmith {
namespace {

std::vector<cuda::GpuReport> GpusOfMachine(int count) {
  std::vector<cuda::GpuReport> gpus(count);
  for (int i = 0; i < count; ++i) gpus[i].device.ordinal = i;
  return gpus;
}

std::vector<int> Chosen(std::string_view selection, int count) {
  const auto selected = SelectGpus(selection, GpusOfMachine(count));
  REQUIRE(selected.ok());
  std::vector<int> ordinals;
  for (const cuda::GpuDevice& gpu : *selected) ordinals.push_back(gpu.ordinal);
  return ordinals;
}

TEST_CASE("--gpus names GPUs", "[unit]") {
  CHECK(Chosen("all", 3) == std::vector<int>{0, 1, 2});
  CHECK(Chosen("2,0", 3) == std::vector<int>{0, 2});
  CHECK(Chosen("1", 3) == std::vector<int>{1});
}

TEST_CASE("--gpus refuses what is not there, by name", "[unit]") {
  CHECK(SelectGpus("all", {}).status().code() == absl::StatusCode::kNotFound);
  for (const char* bad : {"", "x", "0,", ",0", "0,0", "3", "-1", "0 1", "1e0", "99999999999"}) {
    INFO(bad);
    CHECK(SelectGpus(bad, GpusOfMachine(3)).status().code() == absl::StatusCode::kInvalidArgument);
  }
  CHECK(Message(SelectGpus("7", GpusOfMachine(3)).status()).find("7") != std::string::npos);
}

}  // namespace
}  // namespace warpsmith
