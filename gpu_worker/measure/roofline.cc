#include "gpu_worker/measure/roofline.h"

#include <algorithm>
#include <string_view>

namespace warpsmith::measure {
namespace {

struct Row {
  std::string_view name;  // part of the driver's name; the first that fits counts
  double memory_gigabytes;
  double fp32_tera;
  double half_tera;
};

constexpr Row kRows[] = {
    {"GH200 480GB", 4000, 67, 989},
    {"GH200", 4900, 67, 989},
    {"H200 NVL", 4800, 60, 836},
    {"H200", 4800, 67, 989},
    {"H100 NVL", 3938, 60, 835},
    {"H100 PCIe", 2039, 51, 756},
    {"H100", 3350, 67, 989},
    {"B300", 8000, 77, 2500},
    {"B200", 8000, 80, 2500},
    {"L40S", 864, 91.6, 362},
    {"L40", 864, 90.5, 181},
    {"L4", 300, 30.3, 121},
    {"A100 80GB", 2039, 19.5, 312},
    {"A100-SXM4-80GB", 2039, 19.5, 312},
    {"A100-PCIE-40GB", 1555, 19.5, 312},
    {"A100", 2039, 19.5, 312},
    {"A10G", 600, 35, 70},
    {"A10", 600, 31.2, 125},
    {"RTX 6000 Ada", 960, 91.1, 364},
    {"RTX 5090", 1792, 104.8, 419},
    {"RTX 4090", 1008, 82.6, 330},
    {"T4", 320, 8.1, 65},
};

}  // namespace

DevicePeaks PeaksOf(const std::string& device_name) {
  DevicePeaks peaks;
  for (const Row& row : kRows) {
    if (device_name.find(row.name) == std::string::npos) continue;
    peaks.memory_bytes_per_second = row.memory_gigabytes * 1e9;
    peaks.fp32_operations = row.fp32_tera * 1e12;
    peaks.half_operations = row.half_tera * 1e12;
    break;
  }
  return peaks;
}

double MemoryFloorMs(const DevicePeaks& peaks, int64_t bytes) {
  if (peaks.memory_bytes_per_second <= 0) return 0;
  return static_cast<double>(std::max<int64_t>(0, bytes - peaks.l2_bytes)) / peaks.memory_bytes_per_second * 1e3;
}

double ComputeFloorMs(double peak_operations, double operations) {
  return peak_operations > 0 && operations > 0 ? operations / peak_operations * 1e3 : 0;
}

}  // namespace warpsmith::measure
