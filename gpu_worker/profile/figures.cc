#include "gpu_worker/profile/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpsmith::profile {
namespace {

void Add(google::protobuf::RepeatedPtrField<v1::ProfileFigure>* figures, std::string name, double value,
         std::string_view unit) {
  v1::ProfileFigure* figure = figures->Add();
  figure->set_name(std::move(name));
  figure->set_value(value);
  figure->set_unit(std::string(unit));
}

struct Plain {
  std::string_view metric;
  std::string_view name;
  std::string_view unit;
  double scale;
};

constexpr std::array<Plain, 13> kPlain = {{
    {metric::kTime, "time on the GPU", "ms", 1e-6},
    {metric::kDramShare, "DRAM throughput", "% of peak", 1},
    {metric::kDramRead, "DRAM read", "MB", 1e-6},
    {metric::kDramWrite, "DRAM written", "MB", 1e-6},
    {metric::kL2Share, "L2 throughput", "% of peak", 1},
    {metric::kL2Hits, "L2 hit rate", "%", 1},
    {metric::kL1Hits, "L1 hit rate", "%", 1},
    {metric::kSmShare, "SM throughput", "% of peak", 1},
    {metric::kIssueActive, "issue slots used", "%", 1},
    {metric::kActiveWarps, "active warps", "% of what an SM can hold", 1},
    {metric::kSharedShare, "shared memory pipe", "% busy", 1},
    {metric::kLoadSectors, "global loads", "sectors a request", 1},
    {metric::kStoreSectors, "global stores", "sectors a request", 1},
}};

}  // namespace

std::string Quantity(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  size_t power = 0;
  while (std::abs(value) >= 999.5 && power + 1 < kPrefixes.size()) {
    value /= 1000;
    ++power;
  }
  const int digits = std::abs(value) >= 99.95 || value == 0 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", value, digits, kPrefixes[power], unit);
}

std::vector<StallShare> Stalls(const Metrics& metrics) {
  std::vector<StallShare> stalls;
  double sum = 0;
  for (const auto& [name, value] : metrics) {
    const std::string reason = StallReason(name);
    if (reason.empty() || !(value > 0)) continue;
    sum += value;
    if (reason != "selected") stalls.push_back({reason, value});
  }
  for (StallShare& stall : stalls) stall.share /= sum;
  std::sort(stalls.begin(), stalls.end(), [](const StallShare& a, const StallShare& b) {
    return a.share != b.share ? a.share > b.share : a.reason < b.reason;
  });
  return stalls;
}

double ConflictShare(const Metrics& metrics) {
  const double wavefronts = Value(metrics, metric::kSharedWavefronts);
  const double conflicts = Value(metrics, metric::kLoadConflicts) + Value(metrics, metric::kStoreConflicts);
  return wavefronts > 0 ? std::min(1.0, conflicts / wavefronts) : 0;
}

double ThreadOperations(const Metrics& metrics, std::string_view type) {
  const auto count = [&](std::string_view operation) {
    return Value(metrics, fmt::format("{}{}{}_pred_on.sum", metric::kThreadOperations, type, operation));
  };
  return 2 * count("fma") + count("add") + count("mul");
}

double TensorOperations(const Metrics& metrics) {
  double sum = 0;
  for (const auto& [name, value] : metrics) {
    if (name.rfind(metric::kTensorOperations, 0) == 0 && name.substr(name.find('.')) == ".sum") sum += value;
  }
  return sum;
}

double TensorPeak(const Metrics& metrics) {
  double most = 0, peak = 0;
  for (const auto& [name, value] : metrics) {
    if (name.rfind(metric::kTensorOperations, 0) != 0 || name.substr(name.find('.')) != ".sum" || value <= most)
      continue;
    most = value;
    peak = Value(metrics, name + ".peak_sustained_elapsed.per_second");
  }
  return peak;
}

double Seconds(const Metrics& metrics) { return Value(metrics, metric::kTime) * 1e-9; }

double TensorShare(const Metrics& metrics) {
  return std::max(Value(metrics, metric::kTensorPipe), Value(metrics, metric::kTensorPipeAll));
}

double FmaShare(const Metrics& metrics) {
  double share = std::max(Value(metrics, metric::kFmaPipe), Value(metrics, metric::kFmaInstructions));
  // By the work done, where the pipe is two on a chip and its counters are of one of them.
  const double most = Value(metrics, metric::kFp32Peak) * Seconds(metrics);
  double done = 0;
  for (std::string_view operation : {"ffma", "fadd", "fmul"}) {
    done += Value(metrics, fmt::format("{}{}_pred_on.sum", metric::kThreadOperations, operation));
  }
  if (most > 0) share = std::max(share, 100 * done / most);
  return std::min(share, 100.0);
}

void AddFigures(const Metrics& metrics, google::protobuf::RepeatedPtrField<v1::ProfileFigure>* figures) {
  for (const Plain& plain : kPlain) {
    if (!Has(metrics, plain.metric)) continue;
    const double value = Value(metrics, plain.metric) * plain.scale;
    // A kernel without shared memory or without global stores has nothing to say there.
    const bool optional = plain.metric == metric::kSharedShare || plain.metric == metric::kLoadSectors ||
                          plain.metric == metric::kStoreSectors;
    if (!optional || value > 0) Add(figures, std::string(plain.name), value, plain.unit);
  }
  if (FmaShare(metrics) > 0) Add(figures, "FP32 FMA pipe", FmaShare(metrics), "% busy");
  if (Value(metrics, metric::kSharedWavefronts) > 0) {
    Add(figures, "shared memory bank conflicts", 100 * ConflictShare(metrics), "% of its cycles");
  }
  if (Value(metrics, metric::kTensorInstructions) > 0) {
    Add(figures, "tensor pipe", TensorShare(metrics), "% busy");
  }
  const double spilled = 32 * (Value(metrics, metric::kLocalLoads) + Value(metrics, metric::kLocalStores));
  if (spilled > 0) Add(figures, "local memory traffic (spills, indexed arrays)", spilled * 1e-6, "MB");
  constexpr size_t kMostStalls = 3;
  size_t shown = 0;
  for (const StallShare& stall : Stalls(metrics)) {
    if (shown++ == kMostStalls || stall.share < 0.05) break;
    Add(figures, fmt::format("warps wait for {} ({})", StallMeaning(stall.reason), stall.reason), 100 * stall.share,
        "% of their time");
  }
}

}  // namespace warpsmith::profile
