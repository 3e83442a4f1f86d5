#include "gpu_worker/measure/roofline.h"

#include <catch2/catch.hpp>

namespace warpsmith::measure {
namespace {

TEST_CASE("the longer of similar names wins", "[unit]") {
  CHECK(PeaksOf("NVIDIA H200").memory_bytes_per_second == 4.8e12);
  CHECK(PeaksOf("NVIDIA H100 PCIe").memory_bytes_per_second == 2.039e12);
  CHECK(PeaksOf("NVIDIA H100 80GB HBM3").memory_bytes_per_second == 3.35e12);
  CHECK(PeaksOf("NVIDIA L40S").memory_bytes_per_second == 864e9);
  CHECK(PeaksOf("NVIDIA L40S").half_operations > PeaksOf("NVIDIA L40").half_operations);
  CHECK(PeaksOf("NVIDIA L4").memory_bytes_per_second == 300e9);
  CHECK(PeaksOf("something new").memory_bytes_per_second == 0);
}

TEST_CASE("the floor of bytes leaves out what the cache may hold", "[unit]") {
  DevicePeaks peaks = PeaksOf("NVIDIA H200");
  // Softmax (4096, 65536): 2.15 GB in 0.447 ms at the peak.
  CHECK(MemoryFloorMs(peaks, 2147483648) == Approx(0.4474).epsilon(0.001));
  peaks.l2_bytes = 50 << 20;
  CHECK(MemoryFloorMs(peaks, 2147483648) == Approx(0.4365).epsilon(0.001));
  CHECK(MemoryFloorMs(peaks, 1 << 20) == 0);
  CHECK(MemoryFloorMs(DevicePeaks{}, 1 << 30) == 0);
}

TEST_CASE("the floor of operations", "[unit]") {
  CHECK(ComputeFloorMs(67e12, 2.0 * 4096 * 4096 * 4096) == Approx(2.05).epsilon(0.01));
  CHECK(ComputeFloorMs(0, 1e12) == 0);
  CHECK(ComputeFloorMs(67e12, 0) == 0);
}

}  // namespace
}  // namespace warpsmith::measure
