#include "cli/print_profile.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "cli/print_evaluation.h"
#include "cli/text.h"

namespace {

namespace v1 = warpsmith::v1;
using warpsmith::cli::RenderProfile;

v1::Profile Sample() {
  v1::Profile profile;
  profile.set_summary("DRAM bandwidth bounds it: 87 % of the peak, 4.17 TB/s of 4.80 TB/s");
  profile.set_bound_by("dram_bandwidth");
  v1::ProfileFigure* figure = profile.add_figures();
  figure->set_name("DRAM throughput");
  figure->set_value(86.94);
  figure->set_unit("% of peak");
  v1::ProfileRoofline* roof = profile.mutable_roofline();
  roof->set_bytes_per_second(4.17e12);
  roof->set_peak_bytes_per_second(4.8e12);
  roof->set_share(0.869);
  v1::ProfileStep* step = profile.add_steps();
  step->set_kernel("softmax_rows<256>");
  step->set_launches(3);
  step->set_time_ms(1.03);
  step->set_share(0.75);
  step->set_registers(64);
  step->set_static_shared_bytes(1024);
  step->set_dynamic_shared_bytes(65536);
  step->set_occupancy(0.5);
  step->set_occupancy_limiter("shared_memory");
  step->set_bound_by("dram_bandwidth");
  step = profile.add_steps();
  step->set_kernel("memset");
  step->set_launches(1);
  step->set_share(0.25);
  profile.set_passes(42);
  profile.set_seconds(0.9);
  profile.set_chip("GH100");
  return profile;
}

}  // namespace

TEST_CASE("A profile says what bounds, by which figures, and where time goes", "[unit]") {
  const std::string text = RenderProfile(Sample());
  CHECK(text.find("DRAM bandwidth bounds it: 87 %") != std::string::npos);
  CHECK(text.find("4.17 of 4.8 TB/s: 86.9 % of the roof") != std::string::npos);
  CHECK(text.find("DRAM throughput") != std::string::npos);
  CHECK(text.find("86.9") != std::string::npos);
  CHECK(text.find("softmax_rows<256>") != std::string::npos);
  CHECK(text.find("66560") != std::string::npos);
  CHECK(text.find("shared_memory") != std::string::npos);
  CHECK(text.find("in 42 runs of the plan") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CHECK(warpsmith::cli::DisplayWidth(line) <= warpsmith::cli::kPageWidth);
  }
}

TEST_CASE("Without counters the reason stands there, and an evaluation without a profile says nothing", "[unit]") {
  v1::Profile profile;
  profile.set_unavailable_reason("cuptiRangeProfilerEnable: not permitted; load the module with another option");
  CHECK(RenderProfile(profile).find("no counters   cuptiRangeProfilerEnable: not permitted") != std::string::npos);
  CHECK(RenderProfile(v1::Profile()).empty());
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_OK);
  CHECK(warpsmith::cli::EvaluationText(evaluation).find("profile") == std::string::npos);
  *evaluation.mutable_profile() = Sample();
  CHECK(warpsmith::cli::EvaluationText(evaluation).find("DRAM bandwidth bounds it") != std::string::npos);
}

TEST_CASE("A kernel's name cannot steer the terminal", "[unit]") {
  v1::Profile profile = Sample();
  profile.mutable_steps(0)->set_kernel("a\x1b[2J\nb");
  const std::string text = RenderProfile(profile);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\nb") == std::string::npos);
}
