// What becomes of a candidate on a GPU from its compilation to its figure, against scripted parts.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <thread>

#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/profile/fake_profiler.h"
#include "tests/gpu_worker/evaluate/evaluator_fixture.h"

namespace warpsmith::evaluate {
namespace {

TEST_CASE("an honest candidate is validated, measured and rated", "[unit]") {
  Fixture f;
  v1::Evaluation evaluation = f.Evaluate();
  INFO(evaluation.DebugString());
  REQUIRE(evaluation.outcome() == v1::OUTCOME_OK);
  CHECK(evaluation.timing().stage() == "measure");
  CHECK(evaluation.timing().median_ms() == Approx(1.05).epsilon(0.002));
  CHECK(evaluation.timing().host_clock_ms() == Approx(1).epsilon(0.005));
  CHECK(evaluation.timing().device_batch_ms() == Approx(1).epsilon(0.005));
  CHECK(evaluation.timing().first_use_ms() == Approx(1.05).epsilon(0.005));
  CHECK(evaluation.timing().anchor_ms() == Approx(2));
  CHECK(evaluation.timing().launch_mode() == "graph");
  CHECK(evaluation.ratio_to_eager() == Approx(2 / 1.05).epsilon(0.01));
  CHECK(evaluation.best_baseline() == "eager_tf32_off");  // the same class; eager's is looser
  int trials = 0, timed = 0;
  for (const v1::TrialVerdict& trial : evaluation.trials()) (trial.after_timed_launch() ? timed : trials) += 1;
  CHECK(trials == 6 + 4);  // the first one twice, four more, and the other distributions
  CHECK(timed >= 4);       // each timing slot after the screen and after the measurement
  CHECK(f.executors.specs.size() == 1);
  CHECK(f.executors.specs[0].slots.size() == 5 + 4 + 2);
  CHECK(f.world.executors_alive == 0);
  CHECK(f.world.timed_loud == 0);
  CHECK_FALSE(f.world.quiet);
  CHECK(f.guard.locks == 1);
  CHECK(f.guard.held == 0);
  CHECK(f.guard.canaries == 0);
  const v1::StageSeconds& seconds = evaluation.stage_seconds();
  CHECK(seconds.inputs() == Approx(0.22).epsilon(0.01));  // eleven inputs made
  CHECK(seconds.measure() > 0.03);
  CHECK(seconds.reference() == Approx(0.05));
  CHECK(evaluation.gpu_seconds() == Approx(seconds.inputs() + seconds.run() + seconds.measure() + seconds.reference()));
}

TEST_CASE("candidates of a slice meet the same inputs, and nothing is made again", "[unit]") {
  Fixture f;
  f.Evaluate();
  CHECK(f.oracle.generated == 11);
  std::vector<int64_t> seeds = f.world.slot_seeds;
  for (int i = 1; i < 32; ++i) {
    REQUIRE(f.Evaluate().outcome() == v1::OUTCOME_OK);
    CHECK(f.oracle.generated == 11);
  }
  CHECK(f.world.slot_seeds == seeds);
  CHECK(f.world.Count("quiesce") == 1);
  f.Evaluate();  // the thirty-third
  CHECK(f.oracle.generated == 22);
  CHECK(f.world.slot_seeds != seeds);
  CHECK(f.oracle.loads == 1);
  CHECK(f.world.Count("release") == 0);

  f.world.clock.Advance(std::chrono::minutes(6));
  f.Evaluate();
  CHECK(f.oracle.generated == 33);

  f.request.problem = ProblemNamed("another");
  f.Evaluate();
  CHECK(f.oracle.loads == 2);
  CHECK(f.oracle.generated == 44);
}

TEST_CASE("no slice's seed comes from the request, unless it is to be reproduced", "[unit]") {
  Fixture f;
  f.request.seed = 17;
  f.Evaluate();
  for (int64_t seed : f.world.slot_seeds) CHECK(std::abs(seed - 17) > 100000);
  f.request.reproduce = true;
  f.Evaluate();
  CHECK(f.world.slot_seeds[0] == 17);
  f.request.reproduce = false;
  f.Evaluate();
  CHECK(std::abs(f.world.slot_seeds[0] - 17) > 100000);
}

TEST_CASE("with few slots most inputs of a slice still stay", "[unit]") {
  for (int slots : {1, 2, 3, 4, 7}) {
    Fixture f;
    f.oracle.most_slots = slots;
    v1::Evaluation evaluation = f.Evaluate();
    INFO(slots << evaluation.DebugString());
    REQUIRE(evaluation.outcome() == v1::OUTCOME_OK);
    int first = f.oracle.generated;
    REQUIRE(f.Evaluate().outcome() == v1::OUTCOME_OK);
    int second = f.oracle.generated - first;
    CHECK(second <= first);
    if (slots >= 4) CHECK(second <= 11 - (slots - 1));
  }
}

TEST_CASE("a candidate far behind the incumbent stops after its screen", "[unit]") {
  Fixture f;
  f.request.incumbent_ms = 0.4;
  v1::Evaluation evaluation = f.Evaluate();
  REQUIRE(evaluation.outcome() == v1::OUTCOME_OK);
  CHECK(HasFlag(evaluation, "screened"));
  CHECK(evaluation.reason() == "screened");
  CHECK(evaluation.timing().stage() == "screen");
  CHECK(f.world.Count("begin 0 plain") == 2);
  CHECK(f.world.Count("begin 1 ") == 0);  // no further trial
  CHECK(f.world.Count("judge timed") == 2);

  f.request.incumbent_ms = 0.6;  // within the factor: it may yet win
  evaluation = f.Evaluate();
  CHECK_FALSE(HasFlag(evaluation, "screened"));
  CHECK(evaluation.reason().empty());
  CHECK(evaluation.timing().stage() == "measure");
}

TEST_CASE("tuning variants far behind the best one are screened", "[unit]") {
  Fixture f;
  f.world.behaviours["candidate -DTILE=1"].true_seconds = 1e-3;
  f.world.behaviours["candidate -DTILE=2"].true_seconds = 4e-3;
  f.world.behaviours["candidate -DTILE=3"].true_seconds = 0.9e-3;
  f.request.candidate = CandidateNamed("candidate", 0, R"("tune": {"TILE": [1, 2, 3]}, )");
  v1::Evaluation evaluation = f.Evaluate();
  INFO(evaluation.DebugString());
  CHECK(evaluation.tune_variants() == 3);
  CHECK(evaluation.tune().at("TILE") == 3);
  CHECK(evaluation.timing().stage() == "measure");
  CHECK(f.world.Count("begin 1 plain") == 2);  // two variants were wholly validated
}

TEST_CASE("a valid candidate is profiled where it is asked for", "[unit]") {
  v1::Profile profile;
  profile.set_bound_by("dram_bandwidth");
  profile::FakeProfiler profiler(profile);
  GpuServices services;
  services.profiler = &profiler;
  Fixture f(GpuOptions(), services);
  CHECK_FALSE(f.Evaluate().has_profile());
  f.request.profile = true;
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.profile().bound_by() == "dram_bandwidth");
  REQUIRE(profiler.specs.size() == 1);
  CHECK(profiler.requests[0].measured_ms == Approx(1.05).epsilon(0.01));
  f.request.incumbent_ms = 0.1;  // screened: not worth it
  CHECK_FALSE(f.Evaluate().has_profile());
  f.request.profile = false;
  f.request.profile_winner = true;
  f.request.incumbent_ms = 0.9;
  CHECK_FALSE(f.Evaluate().has_profile());
  f.request.incumbent_ms = 1.2;
  CHECK(f.Evaluate().has_profile());
}

TEST_CASE("the time limit of a launch follows the module's own time", "[unit]") {
  Fixture f;
  std::vector<double> limits;
  struct Recording final : executor::Executor {
    explicit Recording(std::vector<double>& l) : limits(l) {}
    executor::RunReport Run(const executor::RunRequest& request) override {
      limits.push_back(request.limit_seconds);
      executor::RunReport report;
      report.outcome = v1::OUTCOME_TIMEOUT;
      return report;
    }
    executor::RunReport Time(const executor::TimeRequest&) override { return {}; }
    std::vector<double>& limits;
  };
  struct Factory final : executor::ExecutorFactory {
    explicit Factory(std::vector<double>& l) : limits(l) {}
    absl::StatusOr<std::unique_ptr<executor::Executor>> Start(const executor::ExecutorSpec&) override {
      return std::unique_ptr<executor::Executor>(std::make_unique<Recording>(limits));
    }
    std::vector<double>& limits;
  } factory(limits);
  Evaluator evaluator(GpuOptions(), f.compiler, factory, f.oracle, f.world.clock);
  CHECK(evaluator.Evaluate(f.request, {}).outcome() == v1::OUTCOME_TIMEOUT);
  f.request.problem.mutable_baselines(0)->set_median_ms(40);
  evaluator.Evaluate(f.request, {});
  f.request.problem.clear_baselines();
  evaluator.Evaluate(f.request, {});
  CHECK(limits == std::vector<double>{2, 8, 20});
}

TEST_CASE("compiling goes on while another candidate has the device", "[unit]") {
  Fixture f;
  std::mutex mutex;
  std::condition_variable changed;
  int compiled = 0;
  bool judging = false;
  f.compiler.while_compiling = [&] {
    std::lock_guard lock(mutex);
    ++compiled;
    changed.notify_all();
  };
  f.oracle.verdict = [&](const reference::JudgeRequest&) {
    // The first candidate holds the device until the second is compiled.
    std::unique_lock lock(mutex);
    judging = true;
    changed.notify_all();
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return compiled >= 2; }) ? v1::OUTCOME_OK
                                                                                           : v1::OUTCOME_WRONG_OUTPUT;
  };
  v1::Evaluation first, second;
  std::thread one([&] { first = f.evaluator.Evaluate(f.request, {}); });
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return judging; }));
  }
  std::thread two([&] { second = f.evaluator.Evaluate(f.request, {}); });
  one.join();
  two.join();
  CHECK(first.outcome() == v1::OUTCOME_OK);
  CHECK(second.outcome() == v1::OUTCOME_OK);
  CHECK(f.guard.locks == 2);
}

TEST_CASE("a candidate that waits can be called off", "[unit]") {
  Fixture f;
  std::stop_source stop;
  stop.request_stop();
  v1::Evaluation evaluation = f.evaluator.Evaluate(f.request, stop.get_token());
  CHECK(evaluation.outcome() == v1::OUTCOME_INFRA_ERROR);
  CHECK(f.executors.specs.empty());
}

TEST_CASE("a plan for a newer device is refused before it is compiled", "[unit]") {
  Fixture f;
  f.compiler.while_compiling = [] { FAIL("compiled"); };
  f.request.candidate = CandidateNamed("candidate", 0, R"("min_arch": "sm_100", )");
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_PLAN_ERROR);
  CHECK(evaluation.reason() == "min_arch");
}

}  // namespace
}  // namespace warpsmith::evaluate
