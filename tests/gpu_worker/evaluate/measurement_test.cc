// Timing by two clocks, against a scripted executor: a stand-in beside the interface, since a real one does not lie.
#include "gpu_worker/evaluate/measurement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "gpu_worker/measure/location.h"
#include "gpu_worker/measure/statistics.h"

namespace warpsmith::evaluate {
namespace {

class ScriptedExecutor final : public executor::Executor {
 public:
  executor::RunReport Run(const executor::RunRequest& request) override {
    executor::RunReport report;
    report.outcome = v1::OUTCOME_OK;
    report.host_seconds =
        overhead_seconds + request.repetitions * true_seconds + (request.repetitions > 0 ? late_seconds : 0);
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
  double true_seconds = 1e-3, told_seconds = 1e-3, overhead_seconds = 0.01, noise = 0, late_seconds = 0;
  v1::Outcome outcome = v1::OUTCOME_OK;
  int runs = 0, taken = 0, fewest_samples = 1000;
  std::vector<int> times;
};

class NoOracleAtAll final : public reference::Oracle {
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

struct MeasurementFixture {
  MeasurementFixture()
      : stages(clock), validation(Plan(clock), executor, oracle, clock, stages), gate(nullptr, clock) {}
  static ValidationPlan Plan(Clock& clock) {
    ValidationPlan plan;
    plan.deadline = clock.Now() + std::chrono::hours(1);
    return plan;
  }
  bool Measure() {
    Measurement measurement(options, executor, validation, gate, clock);
    return *measurement.Screen(timing, evaluation) && *measurement.Measure(timing, evaluation);
  }
  MeasurementOptions options;
  FakeClock clock;
  ScriptedExecutor executor;
  NoOracleAtAll oracle;
  StageClock stages;
  Validation validation;
  ThrottleGate gate;
  v1::Timing timing;
  v1::Evaluation evaluation;
};

TEST_CASE("a steady time is measured with few samples and believed", "[unit]") {
  MeasurementFixture f;
  REQUIRE(f.Measure());
  CHECK(f.timing.median_ms() == Approx(1));
  CHECK(f.timing.host_clock_ms() == Approx(1));
  CHECK(f.timing.samples() >= 10);
  CHECK(f.timing.samples() <= 12);  // whole turns of the slots
}

TEST_CASE("a noisy time takes more samples, up to the cap", "[unit]") {
  MeasurementFixture f;
  f.executor.noise = 0.01;
  REQUIRE(f.Measure());
  CHECK(f.timing.samples() <= 200);
  CHECK(f.timing.samples() >= 198);
  CHECK(f.timing.median_ms() == Approx(1));
}

// A GPU's events as an executor shows them: whole ticks, less what two events show with nothing in between, which each
// process finds out for itself by the same clock. Microseconds.
class TickingExecutor final : public executor::Executor {
 public:
  TickingExecutor(double tick, unsigned seed) : tick_(tick), random_(seed) {
    std::vector<double> seen;
    for (int i = 0; i < 4096; ++i) seen.push_back(Shown(kEventsApart));
    apart_ = measure::Location(seen).value();
  }
  executor::RunReport Run(const executor::RunRequest& request) override {
    executor::RunReport report;
    report.outcome = v1::OUTCOME_OK;
    report.host_seconds = report.device_seconds = 1e-6 * kTruth * request.repetitions;
    return report;
  }
  executor::RunReport Time(const executor::TimeRequest& request) override {
    executor::RunReport report;
    report.outcome = v1::OUTCOME_OK;
    for (int i = 0; i < request.samples; ++i) {
      double taken = kTruth * std::exp(0.01 * normal_(random_));
      if (uniform_(random_) < 0.02) taken += 5 * uniform_(random_);  // something interrupts it
      report.samples.push_back(1e-6 * std::max(Shown(kEventsApart + taken) - apart_, 0.0));
    }
    return report;
  }
  static constexpr double kTruth = 3.4;

 private:
  static constexpr double kEventsApart = 1.3;
  double Shown(double span) {
    const double begun = 100 * uniform_(random_);
    return (std::floor((begun + span) / tick_) - std::floor(begun / tick_)) * tick_;
  }
  const double tick_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double apart_ = 0;
};

TEST_CASE("a kernel of 3.4 us measured 20 times shows the same, whatever the clock's ticks", "[unit]") {
  struct Clock {
    double tick;  // microseconds
    double spread;
    int most_samples;
  };
  for (const Clock& clock : {Clock{0.032, 0.005, 200}, Clock{0.5, 0.005, 3000}, Clock{1.0, 0.007, 3000}}) {
    std::vector<double> figures, medians;
    int samples = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      MeasurementFixture f;
      TickingExecutor executor(clock.tick, seed);
      MeasurementOptions options = MeasurementOptions::ForGpu();
      options.first_use_tolerance = 0;
      options.judge_random_rounds = false;
      options.launch_gap_seconds = 1;
      Measurement measurement(options, executor, f.validation, f.gate, f.clock);
      REQUIRE(*measurement.Screen(f.timing, f.evaluation));
      REQUIRE(*measurement.Measure(f.timing, f.evaluation));
      figures.push_back(f.timing.median_ms());
      samples = std::max(samples, f.timing.samples());
      CHECK(f.timing.sample_ms_size() <= 200);
      std::vector<double> shown(f.timing.sample_ms().begin(), f.timing.sample_ms().end());
      medians.push_back(measure::Summarize(shown).median);
    }
    const measure::Summary repeated = measure::Summarize(figures);
    CAPTURE(clock.tick, repeated.spread, samples, measure::Summarize(medians).median);
    CHECK(repeated.spread <= clock.spread);
    CHECK(repeated.median == Approx(1e-3 * TickingExecutor::kTruth).epsilon(0.01));
    CHECK(samples <= clock.most_samples);  // a fine clock costs no more than before
  }
}

TEST_CASE("a forged time is suspicious, whichever way it lies", "[unit]") {
  for (double lie : {0.1, 0.95, 1.5}) {
    MeasurementFixture f;
    f.executor.told_seconds = lie * f.executor.true_seconds;
    CHECK_FALSE(f.Measure());
    CHECK(f.evaluation.outcome() == v1::OUTCOME_SUSPICIOUS);
    CHECK(f.evaluation.reason() == "clocks");
    CHECK(f.executor.runs == 6);  // a disagreement counts when it comes three times, each with an empty call beside it
  }
}

TEST_CASE("a parent that reads its clock late is no lie of the candidate's", "[unit]") {
  const MeasurementOptions gpu = MeasurementOptions::ForGpu();
  MeasurementFixture f, forged;
  for (MeasurementFixture* each : {&f, &forged}) {
    each->options.clock_tries = gpu.clock_tries;
    each->options.batch_seconds = gpu.batch_seconds;
  }
  f.executor.late_seconds = 0.004;  // whenever something runs: a fifth of the first batch
  CHECK(f.Measure());
  CHECK(f.timing.host_clock_ms() == Approx(f.timing.device_batch_ms()).epsilon(0.02));
  forged.executor.told_seconds = 0.97 * forged.executor.true_seconds;
  CHECK_FALSE(forged.Measure());
  CHECK(forged.evaluation.reason() == "clocks");
}

TEST_CASE("a slow candidate is launched in every slot after the inputs changed", "[unit]") {
  // What is judged after timing is each slot's last launch: a slot left out would hold the answer to older inputs.
  MeasurementFixture f;
  f.executor.true_seconds = f.executor.told_seconds = 30;
  REQUIRE(f.Measure());
  REQUIRE(f.executor.times.size() >= 2);  // the screen, then at least one more
  CHECK(f.executor.fewest_samples >= 2);
}

TEST_CASE("a launch that fails while it is timed has the executor's outcome", "[unit]") {
  MeasurementFixture f;
  f.executor.outcome = v1::OUTCOME_ILLEGAL_ACCESS;
  CHECK_FALSE(f.Measure());
  CHECK(f.evaluation.outcome() == v1::OUTCOME_ILLEGAL_ACCESS);
  CHECK(f.evaluation.failed_stage() == "timed_launch");
}

TEST_CASE("only what is far behind the incumbent is left at its screen", "[unit]") {
  MeasurementFixture f;
  Measurement measurement({}, f.executor, f.validation, f.gate, f.clock);
  REQUIRE(*measurement.Screen(f.timing, f.evaluation));
  CHECK(measurement.MuchSlowerThan(0.3, f.timing));
  CHECK_FALSE(measurement.MuchSlowerThan(0.4, f.timing));
  CHECK_FALSE(measurement.MuchSlowerThan(0, f.timing));
}

}  // namespace
}  // namespace warpsmith::evaluate
