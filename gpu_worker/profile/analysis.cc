#include "gpu_worker/profile/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpu_worker/profile/figures.h"

namespace warpsmith::profile {
namespace {

bool FewWarps(const Metrics& metrics, const LaunchFacts& launch) {
  if (Value(metrics, metric::kActiveWarps) >= 30) return false;
  return (launch.waves > 0 && launch.waves < 1) || (launch.occupancy > 0 && launch.occupancy < 0.35);
}

// Warps wait for shared memory, and conflicts are why.
bool Conflicted(const Metrics& metrics) {
  double waiting = 0;
  for (const StallShare& stall : Stalls(metrics)) {
    if (stall.reason == "short_scoreboard" || stall.reason == "mio_throttle") waiting += stall.share;
  }
  const double conflicts = ConflictShare(metrics);
  return (conflicts >= 0.3 && Value(metrics, metric::kSharedShare) >= 30 && waiting >= 0.2) ||
         (conflicts >= 0.5 && waiting >= 0.4);
}

}  // namespace

Verdict Analyse(const Metrics& metrics, const LaunchFacts& launch) {
  if (metrics.empty()) return {};
  struct Unit {
    const char* bound_by;
    double busy;
    std::string (*text)(const Metrics&);
  };
  // Data that comes from DRAM passes through L2 as well, whose counter sums several stages: DRAM goes first unless L2
  // is clearly busier.
  const Unit units[] = {
      {"dram_bandwidth", Value(metrics, metric::kDramShare) + 10, DramText},
      {"tensor_core", TensorShare(metrics), TensorText},
      {"compute_fp32", FmaShare(metrics), Fp32Text},
      {"shared_memory", Value(metrics, metric::kSharedShare), SharedText},
      {"l2_bandwidth", Value(metrics, metric::kL2Share), L2Text},
  };
  const Unit* busiest = nullptr;
  for (const Unit& unit : units) {
    const double threshold = unit.text == DramText ? kBusy + 10 : kBusy;
    if (unit.busy >= threshold && (busiest == nullptr || unit.busy > busiest->busy)) busiest = &unit;
  }
  // A conflict costs cycles of every unit that waits for the data, so it is named before a pipe that is merely busier.
  if ((busiest == nullptr || busiest->text == L2Text) && Conflicted(metrics))
    return {"shared_memory", SharedText(metrics)};
  if (busiest != nullptr) return {busiest->bound_by, busiest->text(metrics)};
  if (Value(metrics, metric::kIssueActive) >= 70) {
    return {"instruction_issue",
            fmt::format("instruction issue bounds it: {:.0f} % of issue slots are used, but no pipe is that busy ({})",
                        Value(metrics, metric::kIssueActive), BusiestText(metrics))};
  }
  if (FewWarps(metrics, launch)) {
    return {"occupancy",
            fmt::format("too little parallelism bounds it: {:.0f} % of the warps that an SM can hold are active, {}{}",
                        Value(metrics, metric::kActiveWarps), LimiterText(launch), StallText(metrics))};
  }
  return {"latency",
          fmt::format("latency bounds it: no unit is busy ({}){}; {:.0f} % of the warps that an SM can hold are active",
                      BusiestText(metrics), StallText(metrics), Value(metrics, metric::kActiveWarps))};
}

Verdict AnalyseLaunches(int launches, double plan_ms, double kernel_ms) {
  if (launches < 1 || !(kernel_ms > 0)) return {};
  const char* noun = launches == 1 ? "launch" : "launches";
  // The passes that count things run each kernel by itself with cold caches. Where that makes short kernels longer than
  // the plan they are part of, only the plan's own time says anything.
  if (plan_ms > 0 && kernel_ms > plan_ms && plan_ms <= launches * kShortLaunchMs) {
    return {"launch_overhead", fmt::format("launch overhead bounds it: {} {}, {:.1f} µs from one to the next", launches,
                                           noun, 1000 * plan_ms / launches)};
  }
  const double whole = std::max(plan_ms, kernel_ms);
  // Kernels shorter than a start cannot have spent more than themselves on it.
  const double overhead = std::min(launches * kLaunchMs, kernel_ms) + std::max(0.0, plan_ms - kernel_ms);
  if (overhead < 0.5 * whole) return {};
  std::string text = fmt::format("launch overhead bounds it: {} {} of {:.1f} µs on average", launches, noun,
                                 1000 * kernel_ms / launches);
  if (plan_ms > kernel_ms) {
    text += fmt::format("; kernels run for {:.0f} % of the plan's {:.3g} ms", 100 * kernel_ms / plan_ms, plan_ms);
  }
  return {"launch_overhead", text};
}

v1::ProfileRoofline PlaceUnderRoof(const Metrics& metrics) {
  v1::ProfileRoofline roof;
  const double seconds = Seconds(metrics);
  if (!(seconds > 0)) return roof;
  double bytes = Value(metrics, metric::kDramRead) + Value(metrics, metric::kDramWrite);
  if (bytes == 0) bytes = Value(metrics, metric::kDramRate) * seconds;
  const double fp32 = ThreadOperations(metrics, "f"), fp16 = ThreadOperations(metrics, "h");
  const double fp64 = ThreadOperations(metrics, "d"), tensor = TensorOperations(metrics);
  const double fp32_peak = 2 * Value(metrics, metric::kFp32Peak);
  double flops = fp32 + fp16 + fp64 + tensor, peak = fp32_peak;
  const char* arithmetic = "fp32";
  // Packed half precision runs at twice the rate of single; double at half of it on the data-center chips.
  if (tensor > fp32 && tensor > fp16 && tensor > fp64) {
    arithmetic = "tensor";
    peak = TensorPeak(metrics);
  } else if (fp16 > fp32 && fp16 > fp64) {
    arithmetic = "fp16";
    peak = 2 * fp32_peak;
  } else if (fp64 > fp32) {
    arithmetic = "fp64";
    peak = 0;  // differs between chips by a factor of 32
  }
  roof.set_arithmetic(flops > 0 ? arithmetic : "");
  roof.set_bytes_per_second(bytes / seconds);
  roof.set_peak_bytes_per_second(Value(metrics, metric::kDramPeak));
  roof.set_flops_per_second(flops / seconds);
  roof.set_peak_flops_per_second(flops > 0 ? peak : 0);
  if (bytes > 0) roof.set_arithmetic_intensity(flops / bytes);
  // A kernel is as near to the roof as it is to the nearer of its two slopes.
  double share = 0;
  if (roof.peak_bytes_per_second() > 0) share = roof.bytes_per_second() / roof.peak_bytes_per_second();
  if (roof.peak_flops_per_second() > 0) share = std::max(share, roof.flops_per_second() / roof.peak_flops_per_second());
  roof.set_share(share);
  return roof;
}

void Conclude(v1::Profile& profile) {
  profile.clear_figures();
  profile.clear_bound_by();
  profile.clear_summary();
  for (v1::ProfileStep& step : *profile.mutable_steps()) {
    Verdict verdict =
        Analyse(step.metrics(), {step.occupancy(), step.occupancy_limiter(), step.waves(), step.registers()});
    step.set_bound_by(verdict.bound_by);
    step.set_summary(verdict.summary);
  }
  if (!profile.metrics().empty()) {
    *profile.mutable_roofline() = PlaceUnderRoof(profile.metrics());
    AddFigures(profile.metrics(), profile.mutable_figures());
  }
  const v1::ProfileStep* top = profile.steps_size() > 0 ? &profile.steps(0) : nullptr;
  Verdict verdict = AnalyseLaunches(profile.launches(), profile.plan_ms(), profile.kernel_ms());
  if (verdict.bound_by.empty() && top != nullptr && !top->bound_by().empty()) {
    verdict = {top->bound_by(), top->summary()};
    if (profile.steps_size() > 1) {
      verdict.summary =
          fmt::format("{} takes {:.0f} % of the time; {}", top->kernel(), 100 * top->share(), top->summary());
    }
  }
  if (verdict.bound_by.empty()) {
    LaunchFacts launch;
    if (top != nullptr) launch = {top->occupancy(), top->occupancy_limiter(), top->waves(), top->registers()};
    verdict = Analyse(profile.metrics(), launch);
  }
  if (verdict.summary.empty() && top != nullptr) {
    verdict.summary = fmt::format("without counters: {} takes {:.0f} % of the time", top->kernel(), 100 * top->share());
    if (top->occupancy() > 0) {
      verdict.summary +=
          fmt::format(", its occupancy is {:.0f} %, limited by {}", 100 * top->occupancy(), top->occupancy_limiter());
    }
  }
  profile.set_bound_by(verdict.bound_by);
  profile.set_summary(verdict.summary);
}

}  // namespace warpsmith::profile
