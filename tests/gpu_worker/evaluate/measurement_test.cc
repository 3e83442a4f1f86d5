// Timing by two clocks, against a scripted executor: a stand-in beside the interface, since a real one does not lie.
#include "gpu_worker/evaluate/measurement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace warpsmith::evaluate {
namespace {

class ScriptedExecutor final : public executor::Executor {
 public:
  executor::RunReport Run(const executor::RunRequest& request) override {
    executor::RunReport report;
    report.outcome = v1::OUTCOME_OK;
    report.host_seconds = overhead_seconds + request.repetitions * true_seconds;
    report.device_seconds = request.repetitions * told_seconds;
    ++runs;
    return report;
  }
  executor::RunReport Time(const executor::TimeRequest& request) override {
    executor::RunReport report;
    report.outcome = outcome;
    report.message = "step 0";
    fewest_samples = std::min(fewest_samples, request.samples);
    times.push_back(request.samples);
    for (int i = 0; i < request.samples; ++i)
      report.samples.push_back(told_seconds * (1 + noise * ((taken++ % 5) - 2)));
    return report;
  }
  double true_seconds = 1e-3, told_seconds = 1e-3, overhead_seconds = 0.01, noise = 0;
  v1::Outcome outcome = v1::OUTCOME_OK;
  int runs = 0, taken = 0, fewest_samples = 1000;
  std::vector<int> times;
};

class NoOracle final : public reference::Oracle {
 public:
  absl::StatusOr<v1::IntakeResult> Intake(const std::string&, const std::string&, const v1::IntakeSettings&) override {
    return Internal("not here");
  }
  absl::Status Load(const std::string&, const std::string&, const std::string&, const v1::IntakeSettings&,
                    const v1::ProblemSignature&) override {
    return Internal("not here");
  }
  absl::StatusOr<std::vector<std::vector<reference::SharedBuffer>>> Prepare(const std::string&,
                                                                            const v1::ExecutionPlan&, int) override {
    return Internal("not here");
  }
  absl::Status BeginTrial(const reference::TrialRequest&) override { return Internal("not here"); }
  absl::StatusOr<reference::JudgeReport> Judge(const reference::JudgeRequest&) override { return Internal("not here"); }
  absl::StatusOr<reference::ReferenceTime> TimeReference(double) override { return Internal("not here"); }
  absl::Status Release() override { return absl::OkStatus(); }
};

struct Fixture {
  Fixture() : stages(clock), validation(Plan(clock), executor, oracle, clock, stages), gate(nullptr, clock) {}
  static ValidationPlan Plan(Clock& clock) {
    ValidationPlan plan;
    plan.deadline = clock.Now() + std::chrono::hours(1);
    return plan;
  }
  bool Measure() {
    Measurement measurement({}, executor, validation, gate, clock);
    return *measurement.Screen(timing, evaluation) && *measurement.Measure(timing, evaluation);
  }
  FakeClock clock;
  ScriptedExecutor executor;
  NoOracle oracle;
  StageClock stages;
  Validation validation;
  ThrottleGate gate;
  v1::Timing timing;
  v1::Evaluation evaluation;
};

TEST_CASE("a steady time is measured with few samples and believed", "[unit]") {
  Fixture f;
  REQUIRE(f.Measure());
  CHECK(f.timing.median_ms() == Approx(1));
  CHECK(f.timing.host_clock_ms() == Approx(1));
  CHECK(f.timing.samples() >= 10);
  CHECK(f.timing.samples() <= 12);  // whole turns of the slots
}

TEST_CASE("a noisy time takes more samples, up to the cap", "[unit]") {
  Fixture f;
  f.executor.noise = 0.01;
  REQUIRE(f.Measure());
  CHECK(f.timing.samples() <= 200);
  CHECK(f.timing.samples() >= 198);
  CHECK(f.timing.median_ms() == Approx(1));
}

TEST_CASE("a forged time is suspicious, whichever way it lies", "[unit]") {
  for (double lie : {0.1, 0.95, 1.5}) {
    Fixture f;
    f.executor.told_seconds = lie * f.executor.true_seconds;
    CHECK_FALSE(f.Measure());
    CHECK(f.evaluation.outcome() == v1::OUTCOME_SUSPICIOUS);
    CHECK(f.evaluation.reason() == "clocks");
    CHECK(f.executor.runs == 6);  // a disagreement counts when it comes three times
  }
}

TEST_CASE("a slow candidate is launched in every slot after the inputs changed", "[unit]") {
  // What is judged after timing is each slot's last launch: a slot left out would hold the answer to older inputs.
  Fixture f;
  f.executor.true_seconds = f.executor.told_seconds = 30;
  REQUIRE(f.Measure());
  REQUIRE(f.executor.times.size() >= 2);  // the screen, then at least one more
  CHECK(f.executor.fewest_samples >= 2);
}

TEST_CASE("a launch that fails while it is timed has the executor's outcome", "[unit]") {
  Fixture f;
  f.executor.outcome = v1::OUTCOME_ILLEGAL_ACCESS;
  CHECK_FALSE(f.Measure());
  CHECK(f.evaluation.outcome() == v1::OUTCOME_ILLEGAL_ACCESS);
  CHECK(f.evaluation.failed_stage() == "timed_launch");
}

TEST_CASE("only what is far behind the incumbent is left at its screen", "[unit]") {
  Fixture f;
  Measurement measurement({}, f.executor, f.validation, f.gate, f.clock);
  REQUIRE(*measurement.Screen(f.timing, f.evaluation));
  CHECK(measurement.MuchSlowerThan(0.3, f.timing));
  CHECK_FALSE(measurement.MuchSlowerThan(0.4, f.timing));
  CHECK_FALSE(measurement.MuchSlowerThan(0, f.timing));
}

}  // namespace
}  // namespace warpsmith::evaluate
