#include "gpu_worker/reference/memory_budget.h"

#include <catch2/catch.hpp>

namespace warpsmith::reference {
namespace {

TEST_CASE("MemAvailable is read in kilobytes", "[unit]") {
  CHECK(ParseMemAvailable("MemTotal:  10 kB\nMemAvailable:      24 kB\nBuffers: 1 kB\n") == 24u * 1024);
  CHECK_FALSE(ParseMemAvailable("MemTotal: 10 kB\n").has_value());
  CHECK_FALSE(ParseMemAvailable("MemAvailable: lots\n").has_value());
  CHECK_FALSE(ParseMemAvailable("").has_value());
}

TEST_CASE("this machine has some memory left", "[unit]") {
  CHECK(AvailableMemoryBytes() > (64u << 20));
  CHECK(AvailableMemoryBytes() < (1ull << 50));
}

}  // namespace
}  // namespace warpsmith::reference
