#include "gpu_worker/profile/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpu_worker/profile/figures.h"

namespace warpsmith::profile {
namespace {

// More sectors a request than a warp's widest aligned access (16 bytes a thread) touches.
constexpr double kMostUsefulSectors = 16.5;

std::string Rate(double operations, double seconds, std::string_view unit) {
  return seconds > 0 && operations > 0 ? " (" + Quantity(operations / seconds, unit) + ")" : "";
}

}  // namespace

std::string DramText(const Metrics& metrics) {
  std::string text = fmt::format("DRAM bandwidth bounds it: {:.0f} % of the peak", Value(metrics, metric::kDramShare));
  const double rate = Value(metrics, metric::kDramRate), peak = Value(metrics, metric::kDramPeak);
  if (rate > 0 && peak > 0) text += fmt::format(", {} of {}", Quantity(rate, "B/s"), Quantity(peak, "B/s"));
  text += fmt::format("; L2 hit rate {:.0f} %, issue slots used {:.0f} %", Value(metrics, metric::kL2Hits),
                      Value(metrics, metric::kIssueActive));
  const double loads = Value(metrics, metric::kLoadSectors), stores = Value(metrics, metric::kStoreSectors);
  if (std::max(loads, stores) > kMostUsefulSectors) {
    text += fmt::format("; accesses are scattered: {:.0f} sectors a load, {:.0f} a store", loads, stores);
  }
  return text;
}

std::string L2Text(const Metrics& metrics) {
  return fmt::format(
      "L2 bandwidth bounds it: {:.0f} % of the peak{}; L2 hit rate {:.0f} %, L1 hit rate {:.0f} %, DRAM {:.0f} %",
      Value(metrics, metric::kL2Share),
      Has(metrics, metric::kL2Rate) ? ", " + Quantity(Value(metrics, metric::kL2Rate), "B/s") : "",
      Value(metrics, metric::kL2Hits), Value(metrics, metric::kL1Hits), Value(metrics, metric::kDramShare));
}

std::string Fp32Text(const Metrics& metrics) {
  const double peak = 2 * Value(metrics, metric::kFp32Peak);
  return fmt::format(
      "FP32 arithmetic bounds it: its pipe is busy {:.0f} % of the time{}{}; issue slots used {:.0f} %, DRAM {:.0f} %",
      FmaShare(metrics), Rate(ThreadOperations(metrics, "f"), Seconds(metrics), "FLOP/s"),
      peak > 0 ? " of " + Quantity(peak, "FLOP/s") : "", Value(metrics, metric::kIssueActive),
      Value(metrics, metric::kDramShare));
}

std::string TensorText(const Metrics& metrics) {
  const double peak = TensorPeak(metrics);
  return fmt::format("tensor cores bound it: their pipe is busy {:.0f} % of the time{}{}; DRAM {:.0f} %, L2 {:.0f} %",
                     TensorShare(metrics), Rate(TensorOperations(metrics), Seconds(metrics), "FLOP/s"),
                     peak > 0 ? " of " + Quantity(peak, "FLOP/s") : "", Value(metrics, metric::kDramShare),
                     Value(metrics, metric::kL2Share));
}

std::string SharedText(const Metrics& metrics) {
  return fmt::format(
      "shared memory bounds it: its pipe is busy {:.0f} % of the time, {:.0f} % of its cycles are bank conflicts",
      Value(metrics, metric::kSharedShare), 100 * ConflictShare(metrics));
}

std::string BusiestText(const Metrics& metrics) {
  const double tensor = TensorShare(metrics);
  return fmt::format("DRAM {:.0f} %, L2 {:.0f} %, FMA {:.0f} %{}, issue slots {:.0f} %",
                     Value(metrics, metric::kDramShare), Value(metrics, metric::kL2Share), FmaShare(metrics),
                     tensor > 0.5 ? fmt::format(", tensor {:.0f} %", tensor) : "",
                     Value(metrics, metric::kIssueActive));
}

std::string StallText(const Metrics& metrics) {
  const std::vector<StallShare> stalls = Stalls(metrics);
  if (stalls.empty()) return "";
  return fmt::format("; warps spend {:.0f} % of their time waiting for {} ({})", 100 * stalls[0].share,
                     StallMeaning(stalls[0].reason), stalls[0].reason);
}

std::string LimiterText(const LaunchFacts& launch) {
  if (launch.waves > 0 && launch.waves < 1) {
    return fmt::format("the grid fills {:.0f} % of the device", 100 * launch.waves);
  }
  if (launch.occupancy_limiter == "registers")
    return fmt::format("registers allow no more ({} a thread)", launch.registers);
  if (launch.occupancy_limiter == "shared_memory") return "shared memory allows no more";
  if (launch.occupancy_limiter == "blocks") return "blocks are too small";
  return "blocks of this size allow no more";
}

}  // namespace warpsmith::profile
