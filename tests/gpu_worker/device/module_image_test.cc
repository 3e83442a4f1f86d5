// Damaged shared objects: each is refused or prepared, and nothing outside the file is read. Run under the address
// sanitizer this finds reads past the end.
#include "gpu_worker/device/emulated/module_image.h"

#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "tests/gpu_worker/executor/bench.h"

namespace warpsmith::device {
namespace {

std::string Good() {
  static const std::string& bytes = *new std::string(
      *ReadFile(executor::Build("__global__ void k(float* x) { __shared__ float s[32]; extern __shared__ float d[]; "
                                "s[threadIdx.x] = x[0]; d[0] = x[1]; __syncthreads(); x[2] = s[1] + d[1]; }",
                                {"k"})));
  return bytes;
}

TEST_CASE("slots of shared variables are found and taken out") {
  absl::StatusOr<ModuleImage> image = PrepareModule(Good());
  REQUIRE(image.ok());
  REQUIRE(image->static_shared_bytes == 128);
  int dynamic = 0, fixed = 0;
  for (const SharedVariableSlot& slot : image->slots) ++(slot.dynamic ? dynamic : fixed);
  REQUIRE(dynamic == 1);
  REQUIRE(fixed >= 1);
  REQUIRE(image->bytes != Good());
  absl::StatusOr<ModuleImage> again = PrepareModule(image->bytes);
  REQUIRE(again.ok());
  REQUIRE(again->slots.empty());
}

TEST_CASE("what is not a shared object is refused") {
  REQUIRE(!PrepareModule("").ok());
  REQUIRE(!PrepareModule("\x7f"
                         "ELF")
               .ok());
  REQUIRE(!PrepareModule(std::string(100000, 'x')).ok());
  REQUIRE(!PrepareModule(Good().substr(0, 200)).ok());
}

TEST_CASE("damaged files do no harm") {
  std::mt19937 random(12345);
  std::string good = Good();
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bad = good;
    // Mostly in the headers and the dynamic tables.
    for (int change = 0; change < 3; ++change) {
      size_t at = random() % (random() % 2 == 0 ? 512 : bad.size());
      uint64_t value = random() % 4 == 0 ? ~uint64_t{0} : random();
      std::memcpy(&bad[at], &value, std::min<size_t>(sizeof value, bad.size() - at));
    }
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    if (!PrepareModule(std::move(bad)).ok()) ++refused;
  }
  REQUIRE(refused > 100);
}

}  // namespace
}  // namespace warpsmith::device
