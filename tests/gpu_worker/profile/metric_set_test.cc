#include "gpu_worker/profile/metric_set.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "gpu_worker/profile/figures.h"

namespace {

using namespace warpsmith::profile;

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::set<std::string> AllBases() {
  std::set<std::string> bases;
  for (const std::string& name : WantedMetrics()) bases.insert(name.substr(0, name.find('.')));
  return bases;
}

}  // namespace

TEST_CASE("Metrics that a chip lacks are left out, the rest keeps its order", "[unit]") {
  std::set<std::string> bases = AllBases();
  bases.erase("sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active");
  bases.erase("smsp__average_warps_issue_stalled_gmma_per_issue_active");
  const std::vector<std::string> chosen = ChooseMetrics(bases);
  CHECK_FALSE(Contains(chosen, metric::kTensorPipeAll));
  CHECK_FALSE(Contains(chosen, "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"));
  CHECK(Contains(chosen, "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"));
  CHECK(chosen.front() == metric::kTime);
  size_t at = 0;
  for (const std::string& name : WantedMetrics()) at += at < chosen.size() && chosen[at] == name ? 1 : 0;
  CHECK(at == chosen.size());
}

TEST_CASE("Half-precision tensor work is counted once", "[unit]") {
  std::set<std::string> bases = AllBases();
  CHECK(Contains(ChooseMetrics(bases), "sm__ops_path_tensor_src_fp16.sum"));
  CHECK_FALSE(Contains(ChooseMetrics(bases), "sm__ops_path_tensor_src_fp16_dst_fp32.sum"));
  bases.erase("sm__ops_path_tensor_src_fp16");
  CHECK(Contains(ChooseMetrics(bases), "sm__ops_path_tensor_src_fp16_dst_fp32.sum"));
  CHECK(Contains(ChooseMetrics(bases), "sm__ops_path_tensor_src_fp16_dst_fp16.sum"));
}

TEST_CASE("A chip without any of them gives none", "[unit]") {
  CHECK(ChooseMetrics({}).empty());
  CHECK(ChooseMetrics({"pcie__read_bytes"}).empty());
}

TEST_CASE("Stalls are named and shares of all warp time", "[unit]") {
  CHECK(StallReason("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") == "long_scoreboard");
  CHECK(StallReason("smsp__issue_active.avg.pct_of_peak_sustained_active").empty());
  CHECK(StallReason("smsp__average_warps_issue_stalled_").empty());
  CHECK(StallMeaning("barrier") == "other warps at a block barrier");
  CHECK(StallMeaning("of_a_later_chip") == "of_a_later_chip");
  Metrics metrics;
  metrics["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"] = 6;
  metrics["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"] = 3;
  metrics["smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"] = 1;
  const std::vector<StallShare> stalls = Stalls(metrics);
  REQUIRE(stalls.size() == 2);
  CHECK(stalls[0].reason == "long_scoreboard");
  CHECK(stalls[0].share == Approx(0.6));
  CHECK(stalls[1].share == Approx(0.3));
}

TEST_CASE("Quantities have three digits and a prefix", "[unit]") {
  CHECK(Quantity(4.213e12, "B/s") == "4.21 TB/s");
  CHECK(Quantity(66.94e12, "FLOP/s") == "66.9 TFLOP/s");
  CHECK(Quantity(742e12, "FLOP/s") == "742 TFLOP/s");
  CHECK(Quantity(999.7e9, "B/s") == "1.00 TB/s");
  CHECK(Quantity(512, "B") == "512 B");
  CHECK(Quantity(0, "B") == "0 B");
}
