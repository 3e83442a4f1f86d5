// What is said of each kind of bound: one line with the figures that show it.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_VERDICT_TEXT_H_
#define WARPSMITH_GPU_WORKER_PROFILE_VERDICT_TEXT_H_

#include <string>

#include "gpu_worker/profile/metric_set.h"

namespace warpsmith::profile {

// What is known of a launch besides its counters. Zero or empty: not known.
struct LaunchFacts {
  double occupancy = 0;
  std::string occupancy_limiter;
  double waves = 0;
  int registers = 0;
};

std::string DramText(const Metrics& metrics);
std::string L2Text(const Metrics& metrics);
std::string Fp32Text(const Metrics& metrics);
std::string TensorText(const Metrics& metrics);
std::string SharedText(const Metrics& metrics);
// How busy each unit is: "DRAM 12 %, L2 9 %, …".
std::string BusiestText(const Metrics& metrics);
// "; warps spend 61 % of their time waiting for …", or nothing.
std::string StallText(const Metrics& metrics);
// Why there are no more warps.
std::string LimiterText(const LaunchFacts& launch);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_VERDICT_TEXT_H_
