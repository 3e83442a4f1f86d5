// Confirmations and baselines on a GPU, against scripted parts.
#include <catch2/catch.hpp>

#include "common/file.h"
#include "tests/gpu_worker/evaluate/evaluator_fixture.h"

namespace warpsmith::evaluate {
namespace {

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

}  // namespace
}  // namespace warpsmith::evaluate
