#include "gpu_worker/profile/metric_set.h"

#include <array>
#include <utility>

namespace warpsmith::profile {
namespace {

struct Stall {
  std::string_view reason;
  std::string_view meaning;
};

// Warp states that CUPTI tells apart, on any of the chips.
constexpr std::array<Stall, 19> kStalls = {{
    {"long_scoreboard", "data from global or local memory"},
    {"short_scoreboard", "data from shared memory or special functions"},
    {"mio_throttle", "room in the queue of shared-memory and special-function instructions"},
    {"lg_throttle", "room in the queue of global and local memory instructions"},
    {"barrier", "other warps at a block barrier"},
    {"math_pipe_throttle", "a busy arithmetic pipe"},
    {"wait", "the fixed latency of the instruction before"},
    {"not_selected", "its turn while another warp issues"},
    {"selected", "nothing: it issues"},
    {"gmma", "warpgroup matrix instructions"},
    {"no_instruction", "instructions to be fetched"},
    {"branch_resolving", "a branch target"},
    {"dispatch_stall", "the dispatch unit"},
    {"drain", "stores to finish before the warp ends"},
    {"imc_miss", "a constant that is not cached"},
    {"membar", "a memory fence"},
    {"sleeping", "the end of a nanosleep"},
    {"tex_throttle", "room in the queue of texture instructions"},
    {"misc", "something rare"},
}};

constexpr std::string_view kStallEnd = "_per_issue_active.ratio";

std::vector<std::string> MakeWanted() {
  std::vector<std::string> names;
  for (std::string_view name : {metric::kTime,
                                metric::kDramShare,
                                metric::kDramRead,
                                metric::kDramWrite,
                                metric::kDramRate,
                                metric::kDramPeak,
                                metric::kSmShare,
                                metric::kL2Share,
                                metric::kL2Rate,
                                metric::kL2Hits,
                                metric::kL1Share,
                                metric::kL1Hits,
                                metric::kSmActive,
                                metric::kSmClock,
                                metric::kActiveWarps,
                                metric::kIssueActive,
                                metric::kFmaInstructions,
                                metric::kFmaPipe,
                                metric::kTensorInstructions,
                                metric::kTensorPipe,
                                metric::kTensorPipeAll,
                                metric::kSharedShare,
                                metric::kSharedWavefronts,
                                metric::kLoadConflicts,
                                metric::kStoreConflicts,
                                metric::kFp32Peak}) {
    names.emplace_back(name);
  }
  for (std::string_view operation : {"ffma", "fadd", "fmul"}) {
    names.push_back(std::string(metric::kThreadOperations) + std::string(operation) + "_pred_on.sum");
  }
  for (const Stall& stall : kStalls) {
    names.push_back(std::string(metric::kStalled) + std::string(stall.reason) + std::string(kStallEnd));
  }
  for (std::string_view name :
       {metric::kLoadSectors, metric::kStoreSectors, metric::kLocalLoads, metric::kLocalStores}) {
    names.emplace_back(name);
  }
  for (std::string_view operation : {"hfma", "hadd", "hmul", "dfma", "dadd", "dmul"}) {
    names.push_back(std::string(metric::kThreadOperations) + std::string(operation) + "_pred_on.sum");
  }
  // Half precision is one name on some chips and split by the accumulator on others.
  for (std::string_view operands :
       {"tf32_dst_fp32", "bf16_dst_fp32", "fp16", "fp16_dst_fp16", "fp16_dst_fp32", "fp8", "fp64"}) {
    const std::string base = std::string(metric::kTensorOperations) + std::string(operands);
    names.push_back(base + ".sum");
    names.push_back(base + ".sum.peak_sustained_elapsed.per_second");
  }
  return names;
}

}  // namespace

const std::vector<std::string>& WantedMetrics() {
  static const std::vector<std::string> kWanted = MakeWanted();
  return kWanted;
}

std::vector<std::string> ChooseMetrics(const std::set<std::string>& base_metrics) {
  const std::string whole = std::string(metric::kTensorOperations) + "fp16";
  const bool split = base_metrics.count(whole) == 0;
  std::vector<std::string> chosen;
  for (const std::string& name : WantedMetrics()) {
    const std::string base = name.substr(0, name.find('.'));
    if (base_metrics.count(base) == 0) continue;
    if (!split && base.rfind(whole + "_", 0) == 0) continue;  // would count twice
    chosen.push_back(name);
  }
  return chosen;
}

double Value(const Metrics& metrics, std::string_view name) {
  auto found = metrics.find(std::string(name));
  return found == metrics.end() ? 0 : found->second;
}

bool Has(const Metrics& metrics, std::string_view name) { return metrics.count(std::string(name)) > 0; }

std::string StallReason(std::string_view metric_name) {
  const size_t start = metric::kStalled.size();
  if (metric_name.size() <= start + kStallEnd.size() || metric_name.substr(0, start) != metric::kStalled ||
      metric_name.substr(metric_name.size() - kStallEnd.size()) != kStallEnd) {
    return {};
  }
  return std::string(metric_name.substr(start, metric_name.size() - start - kStallEnd.size()));
}

std::string StallMeaning(std::string_view reason) {
  for (const Stall& stall : kStalls) {
    if (stall.reason == reason) return std::string(stall.meaning);
  }
  return std::string(reason);
}

}  // namespace warpsmith::profile
