// What a profile's numbers mean: the resource that bounds a kernel, where it stands under the roofline, one line of
// plain English, and the dozen figures that tell most.
// Threading: pure. Units: as CUPTI's names say; times in milliseconds. Source of the method: the roofline model
// (Williams, Waterman, Patterson 2009), then the unit that is busiest, then what warps wait for where no unit is busy.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_ANALYSIS_H_
#define WARPSMITH_GPU_WORKER_PROFILE_ANALYSIS_H_

#include <string>

#include "gpu_worker/profile/metric_set.h"
#include "gpu_worker/profile/verdict_text.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::profile {

// A unit busy for this share of the time, in per cent, is what bounds a kernel.
inline constexpr double kBusy = 60;
// The device needs about so long to start and end a kernel, whatever it does.
inline constexpr double kLaunchMs = 0.0025;
// One after the other as fast as this on average, kernels do little beside starting and ending.
inline constexpr double kShortLaunchMs = 0.006;

struct Verdict {
  std::string bound_by;  // as v1::Profile.bound_by; empty: not known
  std::string summary;
};

// One kernel's launch.
Verdict Analyse(const Metrics& metrics, const LaunchFacts& launch);

// Starting kernels rather than running them: empty where that does not bound the plan.
Verdict AnalyseLaunches(int launches, double plan_ms, double kernel_ms);

v1::ProfileRoofline PlaceUnderRoof(const Metrics& metrics);

// Fills roofline, bound_by, summary and figures, and each step's bound_by and summary, from metrics, steps, plan_ms,
// kernel_ms, launches and unavailable_reason.
void Conclude(v1::Profile& profile);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_ANALYSIS_H_
