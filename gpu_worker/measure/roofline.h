// The least time that a device's peaks allow an algorithm: bytes over the memory's bandwidth, operations over the peak
// of the arithmetic used. A time below the first cannot be true; one below the second is an algebraic shortcut or
// other arithmetic than thought.
// Threading: pure functions. Units: bytes and operations a second; milliseconds where named so.
// Source: the makers' data sheets, dense figures without sparsity at boost clocks.
#ifndef WARPSMITH_GPU_WORKER_MEASURE_ROOFLINE_H_
#define WARPSMITH_GPU_WORKER_MEASURE_ROOFLINE_H_

#include <cstdint>
#include <string>

namespace warpsmith::measure {

struct DevicePeaks {
  double memory_bytes_per_second = 0;  // 0: unknown, no floor
  double fp32_operations = 0;          // CUDA cores, multiply and add counted as two
  double half_operations = 0;          // tensor cores, fp16 and bf16; above tf32's
  int64_t l2_bytes = 0;                // what a cold launch may leave there instead of in memory
};

// By the name that the driver gives; an unknown board has no peaks. The second-level cache is the caller's to fill in.
DevicePeaks PeaksOf(const std::string& device_name);

// 0: unknown. Written bytes may stay in the second-level cache, so that much is not counted.
double MemoryFloorMs(const DevicePeaks& peaks, int64_t bytes);
double ComputeFloorMs(double peak_operations, double operations);

}  // namespace warpsmith::measure

#endif  // WARPSMITH_GPU_WORKER_MEASURE_ROOFLINE_H_
