// What the evaluator does with a GPU, against scripted parts.
#include "gpu_worker/evaluate/evaluator.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <thread>

#include "common/file.h"
#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/profile/fake_profiler.h"
#include "tests/gpu_worker/evaluate/fakes.h"

namespace warpsmith::evaluate {
namespace {

EvaluatorOptions GpuOptions() {
  EvaluatorOptions options;
  options.device.set_name("NVIDIA H200");
  options.device.set_compute_capability(90);
  options.device.set_memory_bytes(int64_t{141} << 30);
  options.measurement = MeasurementOptions::ForGpu();
  options.anchor_seconds = 0.05;
  options.entropy = [random = std::make_shared<std::mt19937_64>(5)] { return (*random)(); };
  return options;
}

struct Fixture {
  Fixture() : Fixture(GpuOptions()) {}
  explicit Fixture(EvaluatorOptions options, GpuServices more = {})
      : evaluator(std::move(options), compiler, executors, oracle, world.clock, Services(more)) {
    request.problem = ProblemNamed("p");
    request.candidate = CandidateNamed("candidate");
  }
  GpuServices Services(GpuServices services) {
    services.guard = &guard;
    return services;
  }
  v1::Evaluation Evaluate() { return evaluator.Evaluate(request, {}); }

  World world;
  FakeCompiler compiler;
  FakeExecutorFactory executors{world};
  FakeOracle oracle{world};
  FakeGuard guard;
  Evaluator evaluator;
  EvaluateRequest request;
};

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

TEST_CASE("lies about time are suspicious, each for its reason", "[unit]") {
  struct Lie {
    Behaviour behaviour;
    std::string reason;
  };
  Behaviour forged, slow_clock, first_use, quicker_at_first;
  forged.told = 0.96;
  slow_clock.told = 1.04;
  first_use.first_use = 1.5;
  quicker_at_first.first_use = 0.8;
  for (const Lie& lie : {Lie{forged, "clocks"}, Lie{slow_clock, "clocks"}, Lie{first_use, "first_use"},
                         Lie{quicker_at_first, "first_use"}}) {
    Fixture f;
    f.world.behaviours[""] = lie.behaviour;
    v1::Evaluation evaluation = f.Evaluate();
    INFO(evaluation.DebugString());
    CHECK(evaluation.outcome() == v1::OUTCOME_SUSPICIOUS);
    CHECK(evaluation.reason() == lie.reason);
    CHECK(evaluation.failed_stage() == "timed_launch");
    CHECK(evaluation.timing().median_ms() > 0);
    CHECK(f.guard.canaries == 0);
  }
}

TEST_CASE("cold launches told to be faster than warm ones are not believed, launches with gaps are", "[unit]") {
  Fixture f;
  f.world.behaviours[""].cold = 0.9;
  CHECK(f.Evaluate().reason() == "clocks");

  Fixture g;  // 10 µs of work, and 3 µs between launches in a row
  Behaviour& tiny = g.world.behaviours[""];
  tiny.true_seconds = 10e-6;
  tiny.cold = 1;
  tiny.launch_gap_seconds = 3e-6;
  tiny.told = 1.3;
  v1::Evaluation evaluation = g.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_OK);
}

TEST_CASE("a clock that sinks under steady load is no lie", "[unit]") {
  EvaluatorOptions options = GpuOptions();
  Fixture f(options);
  f.world.behaviours[""].cold = 0.9;  // as if launched at a higher clock
  // Power-capped from the batch on: every reading there shows nine tenths of the clock.
  struct Sinking final : DeviceGuard {
    explicit Sinking(World& w) : world(w) {}
    absl::StatusOr<std::shared_ptr<void>> Lock() override { return std::shared_ptr<void>(); }
    absl::StatusOr<ClockReading> ReadClocks() override {
      bool batch = !world.events.empty() && world.events.back() == "run";
      return ClockReading{batch ? 1700.0 : 1980.0, 1980, false, false, batch, false};
    }
    absl::Status Ready() override { return absl::OkStatus(); }
    bool OnEnd(CandidateEnd, const std::string&) override { return true; }
    void OnUnkillableGone() override {}
    World& world;
  } sinking(f.world);
  GpuServices services;
  services.guard = &sinking;
  Evaluator evaluator(options, f.compiler, f.executors, f.oracle, f.world.clock, services);
  v1::Evaluation evaluation = evaluator.Evaluate(f.request, {});
  INFO(evaluation.DebugString());
  CHECK(evaluation.outcome() == v1::OUTCOME_OK);
}

TEST_CASE("a wrong output of timed launches wins over a strange time", "[unit]") {
  Fixture f;
  f.world.behaviours[""].told = 0.5;
  int timed = 0;
  f.oracle.verdict = [&](const reference::JudgeRequest& judge) {
    if (judge.after_timed_launch) ++timed;
    return timed > 2 ? v1::OUTCOME_WRONG_OUTPUT : v1::OUTCOME_OK;
  };
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_WRONG_OUTPUT);
  CHECK(evaluation.reason().empty());
}

TEST_CASE("a time below the floor of bytes is suspicious, below that of operations it is flagged", "[unit]") {
  EvaluatorOptions options = GpuOptions();
  options.peaks = measure::PeaksOf(options.device.name());
  options.peaks.l2_bytes = 50 << 20;
  Fixture f(options);
  f.request.problem.mutable_signature()->set_algorithm_bytes(int64_t{10} << 30);  // 2.2 ms
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_SUSPICIOUS);
  CHECK(evaluation.reason() == "roofline");

  f.request.problem.mutable_signature()->set_degenerate(true);  // it need not read its inputs
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_OK);

  Fixture g(options);
  g.request.problem.mutable_signature()->set_algorithm_bytes(int64_t{4} << 30);
  g.request.problem.mutable_signature()->set_algorithm_flops(137e9);
  evaluation = g.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_OK);
  CHECK(HasFlag(evaluation, "below_compute_floor"));
  CHECK(evaluation.roofline().memory_floor_ms() == Approx(0.884).epsilon(0.01));
  CHECK(evaluation.roofline().compute_floor_ms() == Approx(2.04).epsilon(0.01));
  CHECK(evaluation.roofline().bound() == "compute");
}

TEST_CASE("throttled samples are taken again, and kept in the end", "[unit]") {
  Fixture f;
  f.guard.readings.assign(4, f.guard.usual);
  f.guard.readings.push_back({1980, 1980, true, false, false, false});  // heat
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_OK);
  CHECK(evaluation.timing().throttled_samples() > 0);
  CHECK_FALSE(HasFlag(evaluation, "throttled"));

  Fixture g;
  g.guard.usual.sm_mhz = 1200;  // and no reason given
  evaluation = g.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_OK);
  CHECK(HasFlag(evaluation, "throttled"));
  CHECK(evaluation.timing().samples() >= 20);

  Fixture h;
  h.guard.usual.sm_mhz = 1200;
  h.guard.usual.power_cap = true;  // its own doing
  CHECK_FALSE(HasFlag(h.Evaluate(), "throttled"));
}

TEST_CASE("after an abnormal end the known kernel must pass before the next candidate runs", "[unit]") {
  Fixture f;
  f.world.behaviours["bad"].outcome = v1::OUTCOME_ILLEGAL_ACCESS;
  f.world.behaviours["bad"].fails_at_call = 1;
  f.world.behaviours["good"];
  f.request.candidate = CandidateNamed("bad");
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_ILLEGAL_ACCESS);
  CHECK(f.guard.canaries == 0);
  f.request.candidate = CandidateNamed("good");
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_OK);
  CHECK(f.guard.canaries == 1);
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_OK);
  CHECK(f.guard.canaries == 1);
  CHECK(f.evaluator.Health().ok());

  f.request.candidate = CandidateNamed("bad");
  f.Evaluate();
  f.guard.canary = Internal("wrong sum");
  f.request.candidate = CandidateNamed("good");
  size_t started = f.executors.specs.size();
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_INFRA_ERROR);
  CHECK(evaluation.message().find("wrong sum") != std::string::npos);
  CHECK(f.executors.specs.size() == started);
  CHECK_FALSE(f.evaluator.Health().ok());
  f.guard.canary = absl::OkStatus();
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_OK);
  CHECK(f.evaluator.Health().ok());
}

TEST_CASE("nothing runs on a wedged device", "[unit]") {
  Fixture f;
  f.executors.wedged = true;
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_INFRA_ERROR);
  CHECK(evaluation.message().find("nvidia-smi --gpu-reset") != std::string::npos);
  CHECK(f.executors.specs.empty());
  CHECK_FALSE(f.evaluator.Health().ok());
  f.executors.wedged = false;  // it has gone after all
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_OK);
  CHECK(f.guard.unkillable_gone == 1);
  CHECK(f.guard.canaries == 1);
}

TEST_CASE("a crash that the driver blames on the hardware is not the candidate's", "[unit]") {
  Fixture f;
  f.world.behaviours[""].outcome = v1::OUTCOME_LAUNCH_ERROR;
  f.guard.to_blame = false;
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_INFRA_ERROR);
  CHECK(evaluation.message().find("launch_error") != std::string::npos);
}

TEST_CASE("executors are made ready while nothing is timed, and only then", "[unit]") {
  Fixture f;
  REQUIRE(f.Evaluate().outcome() == v1::OUTCOME_OK);
  CHECK(f.world.timed_loud == 0);
  // One window ends before the trials that follow the screen and begins again before the measurement.
  auto at = [&f, from = size_t{0}](const std::string& prefix) mutable {
    while (from < f.world.events.size() && f.world.events[from].find(prefix) != 0) ++from;
    return from;
  };
  const size_t trial = at("run");
  const size_t quiet = at("quiet");
  const size_t screened = at("time");
  const size_t loud = at("loud");
  const size_t trials = at("run");
  const size_t quiet_again = at("quiet");
  const size_t measured = at("time");
  const size_t loud_again = at("loud");
  CHECK(trial < quiet);
  CHECK(screened < loud);
  CHECK(loud < trials);
  CHECK(trials < quiet_again);
  CHECK(measured < loud_again);
  REQUIRE(loud_again < f.world.events.size());
  CHECK_FALSE(f.world.quiet);
}

TEST_CASE("an oracle that dies costs its slice", "[unit]") {
  Fixture f;
  f.Evaluate();
  f.oracle.begin_answers.push_back(Unavailable("the oracle died"));
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_INFRA_ERROR);
  int before = f.oracle.generated;
  CHECK(f.Evaluate().outcome() == v1::OUTCOME_OK);
  CHECK(f.oracle.generated == before + 11);
}

TEST_CASE("a confirmation compares with the reference and the incumbent", "[unit]") {
  Fixture f;
  f.world.behaviours["incumbent"].true_seconds = 1.2e-3;
  f.world.behaviours["candidate"];
  f.request.stage = "confirm";
  f.request.incumbent_ms = 0.1;  // does not screen here
  f.request.candidate = CandidateNamed("candidate", 64);
  f.request.incumbent = CandidateNamed("incumbent", 128);
  v1::Evaluation evaluation = f.Evaluate();
  INFO(evaluation.DebugString());
  REQUIRE(evaluation.outcome() == v1::OUTCOME_OK);
  const v1::Confirmation& confirmation = evaluation.confirmation();
  CHECK(evaluation.timing().stage() == "confirm");
  CHECK(confirmation.rounds() == 8);
  CHECK(confirmation.ratio_to_incumbent() == Approx(1.2).epsilon(0.003));
  CHECK(confirmation.ratio_to_reference() == Approx(2 / 1.05).epsilon(0.003));
  CHECK(confirmation.incumbent_low() <= confirmation.ratio_to_incumbent());
  CHECK(confirmation.incumbent_high() >= confirmation.ratio_to_incumbent());
  CHECK(confirmation.incumbent_low() > 1.19);
  CHECK(confirmation.incumbent_error().empty());
  // One set of buffers for both, each with its own scratch.
  REQUIRE(f.oracle.prepared.size() == 1);
  CHECK(f.oracle.prepared[0].buffers_size() == 4);
  REQUIRE(f.executors.specs.size() == 2);
  CHECK(f.executors.specs[0].slots[0].size() == 3);
  CHECK(f.executors.specs[0].slots[0][2].payload_bytes == 512);
  CHECK(f.executors.specs[1].slots[0][2].payload_bytes == 256);
  CHECK(f.executors.specs[0].slots[0][0].path == f.executors.specs[1].slots[0][0].path);
  // The parent's clock saw half a second.
  CHECK(evaluation.stage_seconds().measure() > 0.5);
}

TEST_CASE("a kernel against itself is 1.000 +- 0.003", "[unit]") {
  Fixture f;
  f.request.stage = "confirm";
  f.request.incumbent = f.request.candidate;
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.confirmation().ratio_to_incumbent() == Approx(1).margin(0.003));
  CHECK(evaluation.confirmation().incumbent_low() < 1);
  CHECK(evaluation.confirmation().incumbent_high() > 1);
}

TEST_CASE("an incumbent that does not run is told, and the candidate confirmed all the same", "[unit]") {
  Fixture f;
  f.world.behaviours["incumbent"].outcome = v1::OUTCOME_ILLEGAL_ACCESS;
  f.world.behaviours["candidate"];
  f.request.stage = "confirm";
  f.request.incumbent = CandidateNamed("incumbent");
  v1::Evaluation evaluation = f.Evaluate();
  CHECK(evaluation.outcome() == v1::OUTCOME_OK);
  CHECK(evaluation.confirmation().incumbent_error() == "step 0");
  CHECK(evaluation.confirmation().ratio_to_incumbent() == 0);
  CHECK(evaluation.confirmation().ratio_to_reference() > 1.8);
  f.request.incumbent = "int x;";
  CHECK_FALSE(f.Evaluate().confirmation().incumbent_error().empty());
}

TEST_CASE("baselines are timed once for a key", "[unit]") {
  auto folder = *TemporaryDirectory::Create("baselines-test");
  BaselineCache cache(folder.path() / "baselines");
  GpuServices services;
  services.baselines = &cache;
  services.baseline_key.gpu_model = "NVIDIA H200";
  services.baseline_key.power_limit_watts = 700;
  Fixture f(GpuOptions(), services);
  auto intake = f.evaluator.Intake("p", "source", {}, BaselineEffort::kCached);
  REQUIRE(intake.ok());
  CHECK(intake->baselines_size() == 1);
  CHECK(f.oracle.baseline_calls == 0);
  intake = f.evaluator.Intake("p", "source", {});
  REQUIRE(intake.ok());
  CHECK(intake->baselines_size() == 5);
  CHECK(intake->baselines(0).median_ms() == 2);  // the better one in the place of the intake's own
  CHECK(f.oracle.baseline_calls == 1);
  CHECK(f.evaluator.Intake("p", "source", {}, BaselineEffort::kCached)->baselines_size() == 5);
  f.evaluator.Intake("p", "source", {}).IgnoreError();
  CHECK(f.oracle.baseline_calls == 1);
  f.evaluator.Intake("p", "another source", {}).IgnoreError();
  CHECK(f.oracle.baseline_calls == 2);

  services.baseline_key.power_limit_watts = 500;
  Fixture g(GpuOptions(), services);
  g.evaluator.Intake("p", "source", {}).IgnoreError();
  CHECK(g.oracle.baseline_calls == 1);
  CHECK(g.guard.held == 0);
}

TEST_CASE("a baseline that was skipped for a reason is known, and not tried each time", "[unit]") {
  auto folder = *TemporaryDirectory::Create("baselines-test");
  BaselineCache cache(folder.path());
  BaselineKey key;
  v1::Baseline eager, library;
  eager.set_name("eager");
  eager.set_median_ms(1.25);
  library.set_name("library");
  library.set_skipped_reason("no one call computes the whole module");
  cache.Store(key, {eager, library});
  auto loaded = cache.Load(key);
  REQUIRE(loaded.has_value());
  REQUIRE(loaded->size() == 2);
  CHECK(loaded->back().median_ms() == 0);
  CHECK(loaded->back().skipped_reason() == "no one call computes the whole module");
  library.clear_skipped_reason();  // neither a time nor a reason: the file is not whole
  cache.Store(key, {eager, library});
  CHECK_FALSE(cache.Load(key).has_value());

  GpuServices services;
  services.baselines = &cache;
  Fixture f(GpuOptions(), services);
  f.oracle.skipped_baselines = {"eager", "library"};
  auto intake = f.evaluator.Intake("p", "source", {});
  REQUIRE(intake.ok());
  CHECK(intake->baselines(0).name() == "eager");
  CHECK(intake->baselines(0).median_ms() > 0);  // the intake's own is better than none
  CHECK(f.oracle.baseline_calls == 1);
  REQUIRE(f.evaluator.Intake("p", "source", {}).ok());
  CHECK(f.oracle.baseline_calls == 1);
}

TEST_CASE("a damaged file of baselines is as good as none", "[unit]") {
  auto folder = *TemporaryDirectory::Create("baselines-test");
  BaselineCache cache(folder.path());
  BaselineKey key;
  v1::Baseline eager;
  eager.set_name("eager");
  eager.set_median_ms(1.25);
  cache.Store(key, {eager});
  REQUIRE(cache.Load(key).has_value());
  CHECK(cache.Load(key)->front().median_ms() == 1.25);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    REQUIRE(WriteFileAtomically(file.path(), "{\"key\": 1").ok());
  }
  CHECK_FALSE(cache.Load(key).has_value());
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
