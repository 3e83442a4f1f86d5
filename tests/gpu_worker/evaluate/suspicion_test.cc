// Which times are believed, against scripted parts.
#include <catch2/catch.hpp>

#include "gpu_worker/evaluate/flags.h"
#include "tests/gpu_worker/evaluate/evaluator_fixture.h"

namespace warpsmith::evaluate {
namespace {

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

TEST_CASE("launches that do nothing show in the samples, a launch apart of a few microseconds does not", "[unit]") {
  Fixture f;
  f.world.behaviours[""].skips_every = 4;
  v1::Evaluation evaluation = f.Evaluate();
  INFO(evaluation.DebugString());
  CHECK(evaluation.outcome() == v1::OUTCOME_SUSPICIOUS);
  CHECK(evaluation.reason() == "skipped");

  Fixture g;
  Behaviour& tiny = g.world.behaviours[""];
  tiny.true_seconds = 3.4e-6;
  tiny.first_use = 0.88;
  CHECK(g.Evaluate().outcome() == v1::OUTCOME_OK);
  tiny.true_seconds = 34e-6;
  CHECK(g.Evaluate().reason() == "first_use");
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

  // Tensor cores multiply sixteen-bit inputs exactly: theirs is the floor then.
  for (v1::TensorSpec& tensor : *g.request.problem.mutable_signature()->mutable_tensors()) {
    tensor.set_dtype("float16");
    tensor.set_storage_bytes(tensor.storage_bytes() / 2);
  }
  evaluation = g.Evaluate();
  INFO(evaluation.DebugString());
  CHECK_FALSE(HasFlag(evaluation, "below_compute_floor"));
  CHECK(evaluation.roofline().compute_floor_ms() == Approx(137.0 / 989).epsilon(0.01));
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

}  // namespace
}  // namespace warpsmith::evaluate
