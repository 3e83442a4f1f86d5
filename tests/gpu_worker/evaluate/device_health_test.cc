// What an abnormal end means for the GPU and for the candidates after it, against scripted parts.
#include <catch2/catch.hpp>

#include "tests/gpu_worker/evaluate/evaluator_fixture.h"

namespace warpsmith::evaluate {
namespace {

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

}  // namespace
}  // namespace warpsmith::evaluate
