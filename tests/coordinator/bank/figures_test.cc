// What a confirmation admits, how confirmations compare, and whose code is the same.
#include "coordinator/bank/figures.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "coordinator/bank/code_identity.h"

namespace warpsmith::bank {
namespace {

constexpr char kClass[] = "H200 sm_90";

v1::DeviceDescription Device(bool emulated = false) {
  v1::DeviceDescription device;
  device.set_device_class(emulated ? "emulated" : kClass);
  device.set_emulated(emulated);
  return device;
}

v1::Evaluation Confirmed(double ratio = 2, double low = 1.9, double high = 2.1) {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_OK);
  evaluation.mutable_timing()->set_median_ms(0.5);
  evaluation.mutable_confirmation()->set_ratio_to_reference(ratio);
  evaluation.mutable_confirmation()->set_reference_low(low);
  evaluation.mutable_confirmation()->set_reference_high(high);
  evaluation.mutable_confirmation()->set_candidate_ms(0.51);
  return evaluation;
}

std::string Why(const v1::Evaluation& evaluation) { return WhyNotAdmitted({}, evaluation, kClass, false, Device()); }

TEST_CASE("a GPU's kernel needs a ratio with an interval around it", "[unit]") {
  CHECK(Why(Confirmed()).empty());
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [ratio, low, high] : std::vector<std::tuple<double, double, double>>{{0, 0, 0},
                                                                                        {2, 0, 2.1},
                                                                                        {2, 2.05, 2.1},
                                                                                        {2, 1.9, 1.95},
                                                                                        {nan, 1.9, 2.1},
                                                                                        {2, nan, 2.1},
                                                                                        {2, 1.9, inf},
                                                                                        {-1, -2, 0}}) {
    CHECK_THAT(Why(Confirmed(ratio, low, high)), Catch::Contains("interval"));
  }
  v1::Evaluation measured = Confirmed();
  measured.clear_confirmation();
  CHECK_THAT(Why(measured), Catch::Contains("interval"));
}

TEST_CASE("what is wrong, flagged, degenerate, or was confirmed elsewhere stays out", "[unit]") {
  v1::Evaluation wrong = Confirmed();
  wrong.set_outcome(v1::OUTCOME_WRONG_OUTPUT);
  wrong.set_message("output[3] is 1");
  CHECK_THAT(Why(wrong), Catch::Contains("wrong_output") && Catch::Contains("output[3]"));
  for (const char* flag : {"suspicious", "host_code", "screened"}) {
    v1::Evaluation flagged = Confirmed();
    flagged.add_flags("uses_library");
    CHECK(Why(flagged).empty());
    flagged.add_flags(flag);
    CHECK_THAT(Why(flagged), Catch::Contains(flag));
  }
  v1::ProblemSignature degenerate;
  degenerate.set_degenerate(true);
  CHECK_THAT(WhyNotAdmitted(degenerate, Confirmed(), kClass, false, Device()), Catch::Contains("trivial"));
  v1::DeviceDescription other = Device();
  other.set_device_class("L40S sm_89");
  CHECK_THAT(WhyNotAdmitted({}, Confirmed(), kClass, false, other), Catch::Contains("L40S sm_89"));
  v1::Evaluation emulated = Confirmed();
  emulated.mutable_timing()->set_emulated(true);
  CHECK_THAT(Why(emulated), Catch::Contains("ran on"));
  CHECK_THAT(WhyNotAdmitted({}, Confirmed(), kClass, false, Device(true)), Catch::Contains("ran on"));
}

TEST_CASE("the emulated device's kernels are confirmed without a ratio, and with one it must be whole", "[unit]") {
  v1::Evaluation evaluation = Confirmed();
  evaluation.mutable_timing()->set_emulated(true);
  CHECK(WhyNotAdmitted({}, evaluation, "emulated", true, Device(true)).empty());
  evaluation.mutable_confirmation()->set_reference_low(5);
  CHECK(!WhyNotAdmitted({}, evaluation, "emulated", true, Device(true)).empty());
  evaluation.clear_confirmation();
  CHECK(WhyNotAdmitted({}, evaluation, "emulated", true, Device(true)).empty());
}

TEST_CASE("figures: the confirmed ratio goes before what was measured", "[unit]") {
  const Figures confirmed = FiguresOf(Confirmed(), 0.1);
  CHECK(confirmed.log_ratio == Approx(std::log(2)));
  CHECK(confirmed.median_ms == 0.51);
  v1::Evaluation measured = Confirmed();
  measured.clear_confirmation();
  CHECK(FiguresOf(measured, 0.1).log_ratio == 0.1);
  CHECK(FiguresOf(measured, 0.1).median_ms == 0.5);
  CHECK(FiguresOf(measured, std::nan("")).log_ratio == 0);
}

Figures At(double ratio, double half_width, const std::string& harness = "h2") {
  Figures figures;
  figures.median_ms = 1 / ratio;
  figures.ratio = ratio;
  figures.ratio_low = ratio - half_width;
  figures.ratio_high = ratio + half_width;
  figures.log_ratio = std::log(ratio);
  figures.revisions = {harness, "j2"};
  return figures;
}

TEST_CASE("drift: intervals apart by more than noise; never across harnesses", "[unit]") {
  CHECK(Compare(At(2, 0.05), At(2.04, 0.05), false).verdict == "confirmed");
  CHECK(Compare(At(2, 0.001), At(2.005, 0.001), false).verdict == "confirmed");  // apart, but by a quarter of a percent
  const Comparison slower = Compare(At(2, 0.01), At(1.8, 0.01), false);
  CHECK(slower.verdict == "drifted");
  CHECK_THAT(slower.message, Catch::Contains("-10.0 %"));
  CHECK(Compare(At(2, 0.01, "h2"), At(1, 0.01, "h3"), false).verdict == "remeasured");
  CHECK(Compare(At(2, 0.01), At(1.8, 0.01), true).verdict == "confirmed");  // a busy processor
  CHECK(Compare(At(2, 0.01), At(0.5, 0.01), true).verdict == "drifted");
  CHECK(Compare(Figures(), At(2, 0.01), false).verdict == "remeasured");
}

TEST_CASE("revisions are ordered by their number", "[unit]") {
  CHECK(OlderRevision("h2", "h3"));
  CHECK(OlderRevision("h9", "h10"));
  CHECK(!OlderRevision("h10", "h9"));
  CHECK(!OlderRevision("h2", "h2"));
  CHECK(!OlderRevision("h02", "h2"));
  CHECK(OlderRevision("", "h1"));
  CHECK(OlderRevision("h2", "h2b"));
  CHECK(Older({"h3", "j1"}, {"h2", "j2"}));
  CHECK(!Older({"h3", "j2"}, {"h2", "j2"}));
}

TEST_CASE("one module launched alike is one kernel, whatever the text", "[unit]") {
  v1::Evaluation evaluation;
  const std::string plan = R"({"version": 1, "steps": [{"kernel": "k", "grid": [4], "block": [32], "args": ["x"]}]})";
  const auto source = [](const std::string& text, const std::string& code) {
    return "/* warpsmith-plan " + text + " */\n" + code;
  };
  CHECK(ModuleIdentity(source(plan, "a"), evaluation).empty());
  evaluation.set_cubin_sha256("aa");
  const std::string identity = ModuleIdentity(source(plan, "float a;"), evaluation);
  CHECK(identity.size() == 64);
  CHECK(ModuleIdentity(source(plan, "float b;  // other names"), evaluation) == identity);
  CHECK(ModuleIdentity(source(R"({"steps":[{"args":["x"],"kernel":"k","block":[32],"grid":[4]}],"version":1,)"
                              R"("options":["--use_fast_math"]})",
                              ""),
                       evaluation) == identity);
  std::string other_grid = plan;
  other_grid.replace(other_grid.find("[4]"), 3, "[8]");
  CHECK(ModuleIdentity(source(other_grid, ""), evaluation) != identity);
  CHECK(ModuleIdentity("no plan at all", evaluation) != identity);
  (*evaluation.mutable_tune())["TILE"] = 64;
  const std::string tuned = ModuleIdentity(source(plan, ""), evaluation);
  CHECK(tuned != identity);
  evaluation.set_cubin_sha256("bb");
  CHECK(ModuleIdentity(source(plan, ""), evaluation) != tuned);
}

}  // namespace
}  // namespace warpsmith::bank
