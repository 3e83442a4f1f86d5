#include "gpu_worker/profile/analysis.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <utility>

namespace {

using namespace warpsmith::profile;
namespace v1 = warpsmith::v1;

std::string StallMetric(const std::string& reason) {
  return std::string(metric::kStalled) + reason + "_per_issue_active.ratio";
}

Metrics Make(std::initializer_list<std::pair<std::string, double>> values) {
  Metrics metrics;
  for (const auto& [name, value] : values) metrics[name] = value;
  return metrics;
}

std::string Name(std::string_view name) { return std::string(name); }

// Copying 2 GiB on an H200: 4 bytes of every 5 that the memory could move.
Metrics MemoryBound() {
  return Make({{Name(metric::kTime), 1.03e6},
               {Name(metric::kDramShare), 86.9},
               {Name(metric::kDramRead), 2.148e9},
               {Name(metric::kDramWrite), 2.13e9},
               {Name(metric::kDramRate), 4.17e12},
               {Name(metric::kDramPeak), 4.8e12},
               {Name(metric::kL2Share), 61},
               {Name(metric::kL2Hits), 33},
               {Name(metric::kSmShare), 21},
               {Name(metric::kIssueActive), 7.5},
               {Name(metric::kActiveWarps), 88},
               {Name(metric::kFmaPipe), 2.1},
               {Name(metric::kFp32Peak), 33.4e12},
               {Name(metric::kLoadSectors), 16},
               {StallMetric("long_scoreboard"), 190},
               {StallMetric("selected"), 1},
               {StallMetric("lg_throttle"), 9}});
}

// A register-tiled FP32 matrix product of 4096³.
Metrics ComputeBound() {
  return Make({{Name(metric::kTime), 2.75e6},
               {Name(metric::kDramShare), 4.5},
               {Name(metric::kDramRead), 2.6e8},
               {Name(metric::kDramWrite), 6.7e7},
               {Name(metric::kDramPeak), 4.8e12},
               {Name(metric::kL2Share), 22},
               {Name(metric::kL2Hits), 88},
               {Name(metric::kIssueActive), 83},
               {Name(metric::kActiveWarps), 24},
               {Name(metric::kFmaPipe), 79.5},
               {Name(metric::kSharedShare), 48},
               {Name(metric::kFp32Peak), 33.4e12},
               {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 68.7e9},
               {StallMetric("selected"), 1},
               {StallMetric("not_selected"), 1.3},
               {StallMetric("math_pipe_throttle"), 0.9}});
}

// A transpose through shared memory without padding: 32-way conflicts.
Metrics ConflictBound() {
  return Make({{Name(metric::kTime), 9.1e5},
               {Name(metric::kDramShare), 24},
               {Name(metric::kL2Share), 19},
               {Name(metric::kIssueActive), 4},
               {Name(metric::kActiveWarps), 93},
               {Name(metric::kSharedShare), 91},
               {Name(metric::kSharedWavefronts), 3.4e7},
               {Name(metric::kLoadConflicts), 3.2e7},
               {Name(metric::kStoreConflicts), 0},
               {StallMetric("short_scoreboard"), 120},
               {StallMetric("mio_throttle"), 60},
               {StallMetric("selected"), 1}});
}

// One thread of each warp follows pointers.
Metrics LatencyBound() {
  return Make({{Name(metric::kTime), 4e6},
               {Name(metric::kDramShare), 12},
               {Name(metric::kL2Share), 9},
               {Name(metric::kFmaPipe), 1},
               {Name(metric::kIssueActive), 3},
               {Name(metric::kActiveWarps), 71},
               {StallMetric("long_scoreboard"), 300},
               {StallMetric("wait"), 12},
               {StallMetric("selected"), 1}});
}

v1::Profile OneStep(const Metrics& metrics) {
  v1::Profile profile;
  *profile.mutable_metrics() = metrics;
  v1::ProfileStep* step = profile.add_steps();
  step->set_kernel("rows");
  step->set_launches(1);
  step->set_share(1);
  step->set_time_ms(Value(metrics, metric::kTime) * 1e-6);
  *step->mutable_metrics() = metrics;
  profile.set_launches(1);
  profile.set_kernel_ms(step->time_ms());
  profile.set_plan_ms(step->time_ms() + 0.003);
  return profile;
}

bool HasFigure(const v1::Profile& profile, const std::string& name, double value) {
  for (const v1::ProfileFigure& figure : profile.figures()) {
    if (figure.name() == name) return figure.value() == Approx(value);
  }
  return false;
}

}  // namespace

TEST_CASE("A copy is bound by DRAM bandwidth, though L2 is busy too", "[unit]") {
  const Verdict verdict = Analyse(MemoryBound(), {1, "threads", 8, 32});
  CHECK(verdict.bound_by == "dram_bandwidth");
  CHECK(verdict.summary ==
        "DRAM bandwidth bounds it: 87 % of the peak, 4.17 TB/s of 4.80 TB/s; L2 hit rate 33 %, issue slots used 8 %");
}

TEST_CASE("Scattered accesses are named", "[unit]") {
  Metrics metrics = MemoryBound();
  metrics[Name(metric::kLoadSectors)] = 31.7;
  CHECK(Analyse(metrics, {}).summary.find("accesses are scattered: 32 sectors a load") != std::string::npos);
}

TEST_CASE("A matrix product is bound by FP32 arithmetic", "[unit]") {
  const Verdict verdict = Analyse(ComputeBound(), {0.25, "registers", 7.8, 128});
  CHECK(verdict.bound_by == "compute_fp32");
  CHECK(verdict.summary ==
        "FP32 arithmetic bounds it: its pipe is busy 80 % of the time (50.0 TFLOP/s) of 66.8 TFLOP/s; issue slots used "
        "83 %, DRAM 4 %");
}

TEST_CASE("Tensor cores bound what keeps them busy", "[unit]") {
  Metrics metrics = Make({{Name(metric::kTime), 1.85e5},
                          {Name(metric::kTensorInstructions), 1e6},
                          {Name(metric::kTensorPipeAll), 84},
                          {Name(metric::kL2Share), 52},
                          {Name(metric::kSharedShare), 66},
                          {Name(metric::kDramShare), 20},
                          {"sm__ops_path_tensor_src_fp16.sum", 137.4e9},
                          {"sm__ops_path_tensor_src_fp16.sum.peak_sustained_elapsed.per_second", 989e12}});
  const Verdict verdict = Analyse(metrics, {});
  CHECK(verdict.bound_by == "tensor_core");
  CHECK(verdict.summary.find("busy 84 % of the time (743 TFLOP/s) of 989 TFLOP/s") != std::string::npos);
  const v1::ProfileRoofline roof = PlaceUnderRoof(metrics);
  CHECK(roof.arithmetic() == "tensor");
  CHECK(roof.share() == Approx(0.751).epsilon(0.01));
}

TEST_CASE("Bank conflicts are named, at a busy pipe and at a pipe that merely makes warps wait", "[unit]") {
  Metrics metrics = ConflictBound();
  Verdict verdict = Analyse(metrics, {});
  CHECK(verdict.bound_by == "shared_memory");
  CHECK(verdict.summary ==
        "shared memory bounds it: its pipe is busy 91 % of the time, 94 % of its cycles are bank conflicts");
  metrics[Name(metric::kSharedShare)] = 40;
  CHECK(Analyse(metrics, {}).bound_by == "shared_memory");
  metrics[Name(metric::kLoadConflicts)] = 0;
  CHECK(Analyse(metrics, {}).bound_by == "latency");
}

TEST_CASE("Where no unit is busy, latency is named with what warps wait for", "[unit]") {
  const Verdict verdict = Analyse(LatencyBound(), {1, "threads", 4, 24});
  CHECK(verdict.bound_by == "latency");
  CHECK(verdict.summary.find("warps spend 96 % of their time waiting for data from global or local memory "
                             "(long_scoreboard)") != std::string::npos);
}

TEST_CASE("Few warps are named with what limits them", "[unit]") {
  Metrics metrics = LatencyBound();
  metrics[Name(metric::kActiveWarps)] = 12;
  Verdict verdict = Analyse(metrics, {0.125, "registers", 3, 255});
  CHECK(verdict.bound_by == "occupancy");
  CHECK(verdict.summary.find("registers allow no more (255 a thread)") != std::string::npos);
  verdict = Analyse(metrics, {1, "threads", 0.12, 32});
  CHECK(verdict.bound_by == "occupancy");
  CHECK(verdict.summary.find("the grid fills 12 % of the device") != std::string::npos);
  // Enough could be there, and is not: then it is not occupancy.
  CHECK(Analyse(metrics, {1, "threads", 6, 32}).bound_by == "latency");
}

TEST_CASE("L2 and instruction issue", "[unit]") {
  Metrics metrics = LatencyBound();
  metrics[Name(metric::kL2Share)] = 82;
  metrics[Name(metric::kL2Rate)] = 5.1e12;
  CHECK(Analyse(metrics, {}).bound_by == "l2_bandwidth");
  CHECK(Analyse(metrics, {}).summary.find("82 % of the peak, 5.10 TB/s") != std::string::npos);
  metrics = LatencyBound();
  metrics[Name(metric::kIssueActive)] = 88;
  CHECK(Analyse(metrics, {}).bound_by == "instruction_issue");
}

TEST_CASE("Launch overhead: many tiny launches, one tiny launch, gaps between launches", "[unit]") {
  const Verdict many = AnalyseLaunches(2000, 2.48, 2.0);
  CHECK(many.bound_by == "launch_overhead");
  CHECK(many.summary ==
        "launch overhead bounds it: 2000 launches of 1.0 µs on average; kernels run for 81 % of the "
        "plan's 2.48 ms");
  CHECK(AnalyseLaunches(1, 0.0045, 0.0021).bound_by == "launch_overhead");
  CHECK(AnalyseLaunches(40, 1.0, 0.4).bound_by == "launch_overhead");
  CHECK(AnalyseLaunches(1, 1.03, 1.03).bound_by.empty());
  CHECK(AnalyseLaunches(10, 1.05, 1.0).bound_by.empty());
  CHECK(AnalyseLaunches(1, 0, 0).bound_by.empty());
  // Counted one by one they take longer than the plan does.
  const Verdict stretched = AnalyseLaunches(300, 1.5, 7.1);
  CHECK(stretched.bound_by == "launch_overhead");
  CHECK(stretched.summary == "launch overhead bounds it: 300 launches, 5.0 µs from one to the next");
  CHECK(AnalyseLaunches(1, 1.12, 1.14).bound_by.empty());
}

TEST_CASE("A whole profile: roofline, figures, summary", "[unit]") {
  v1::Profile profile = OneStep(MemoryBound());
  Conclude(profile);
  CHECK(profile.bound_by() == "dram_bandwidth");
  CHECK(profile.steps(0).bound_by() == "dram_bandwidth");
  CHECK(profile.roofline().bytes_per_second() == Approx(4.153e12).epsilon(0.001));
  CHECK(profile.roofline().share() == Approx(0.865).epsilon(0.001));
  CHECK(profile.roofline().arithmetic().empty());
  CHECK(HasFigure(profile, "DRAM throughput", 86.9));
  CHECK(HasFigure(profile, "DRAM read", 2148));
  CHECK(HasFigure(profile, "warps wait for data from global or local memory (long_scoreboard)", 95));
  CHECK(profile.figures_size() <= 20);

  profile = OneStep(ComputeBound());
  Conclude(profile);
  CHECK(profile.roofline().arithmetic() == "fp32");
  CHECK(profile.roofline().flops_per_second() == Approx(49.96e12).epsilon(0.001));
  CHECK(profile.roofline().share() == Approx(0.748).epsilon(0.01));
  CHECK(profile.roofline().arithmetic_intensity() == Approx(420.2).epsilon(0.01));
  // Concluding again changes nothing.
  const std::string before = profile.SerializeAsString();
  const int figures = profile.figures_size();
  Conclude(profile);
  CHECK(profile.figures_size() == figures);
  CHECK(profile.SerializeAsString().size() == before.size());
}

TEST_CASE("Of several steps the one that takes the time decides", "[unit]") {
  v1::Profile profile = OneStep(LatencyBound());
  profile.mutable_steps(0)->set_share(0.7);
  v1::ProfileStep* second = profile.add_steps();
  second->set_kernel("copy");
  second->set_share(0.3);
  second->set_time_ms(1.7);
  *second->mutable_metrics() = MemoryBound();
  profile.set_launches(2);
  Conclude(profile);
  CHECK(profile.bound_by() == "latency");
  CHECK(profile.summary().rfind("rows takes 70 % of the time; latency bounds it", 0) == 0);
  CHECK(profile.steps(1).bound_by() == "dram_bandwidth");
}

TEST_CASE("Without counters the resources still speak, and nothing is claimed", "[unit]") {
  v1::Profile profile;
  profile.set_unavailable_reason("counters are not permitted");
  profile.set_launches(1);
  profile.set_plan_ms(1);
  profile.set_kernel_ms(1);
  v1::ProfileStep* step = profile.add_steps();
  step->set_kernel("rows");
  step->set_share(1);
  step->set_time_ms(1);
  step->set_occupancy(0.25);
  step->set_occupancy_limiter("registers");
  Conclude(profile);
  CHECK(profile.bound_by().empty());
  CHECK(profile.summary() ==
        "without counters: rows takes 100 % of the time, its occupancy is 25 %, limited by "
        "registers");
  CHECK(profile.figures().empty());
  v1::Profile empty;
  Conclude(empty);
  CHECK(empty.summary().empty());
}
