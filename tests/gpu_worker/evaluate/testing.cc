#include "tests/gpu_worker/evaluate/testing.h"

#include <catch2/catch.hpp>
#include <map>

#include "common/file.h"

namespace warpsmith::evaluate {
namespace {

struct Shared {
  TemporaryDirectory cache = *TemporaryDirectory::Create("evaluate-test");
  std::unique_ptr<LocalEvaluator> local;
  std::map<std::string, v1::Problem> problems;
};

Shared& TheOne() {
  static Shared shared;
  if (!shared.local) {
    LocalEvaluatorOptions options;
    options.cache_folder = shared.cache.path();
    options.run_limit_seconds = 4;
    options.measure_seconds = 0.1;  // verdicts are tested here, not times
    auto local = LocalEvaluator::Create(options);
    INFO(Message(local.status()));
    REQUIRE(local.ok());
    shared.local = *std::move(local);
  }
  return shared;
}

}  // namespace

std::filesystem::path CorpusFolder() { return std::filesystem::path(WARPSMITH_SOURCE_DIR) / "tests" / "corpus"; }

const v1::Problem& ProblemForTest(const std::string& name) {
  Shared& shared = TheOne();
  auto found = shared.problems.find(name);
  if (found != shared.problems.end()) return found->second;
  auto source = ReadFile(std::filesystem::path(WARPSMITH_SOURCE_DIR) / "tests" / "problems" / (name + ".py"));
  REQUIRE(source.ok());
  v1::IntakeSettings settings;
  auto intake = shared.local->evaluator().Intake(name, *source, settings);
  INFO(name << ": " << Message(intake.status()));
  REQUIRE(intake.ok());
  INFO(intake->error());
  REQUIRE(intake->error().empty());
  v1::Problem& problem = shared.problems[name];
  problem.set_id(ProblemId(*source, settings));
  problem.set_name(name);
  problem.set_source(*source);
  *problem.mutable_signature() = intake->signature();
  *problem.mutable_baselines() = intake->baselines();
  return problem;
}

v1::Evaluation EvaluateForTest(const std::string& problem, const std::string& candidate,
                               const std::vector<v1::PrecisionClass>& accepted) {
  EvaluateRequest request;
  request.problem = ProblemForTest(problem);
  request.candidate = candidate;
  request.accepted = accepted;
  request.seed = 17;
  return TheOne().local->evaluator().Evaluate(request, {});
}

v1::PrecisionClass ClassNamed(const std::string& name) {
  if (name == "fp32") return v1::PRECISION_CLASS_FP32;
  if (name == "tf32" || name == "fp16") return v1::PRECISION_CLASS_TF32;
  if (name == "bf16") return v1::PRECISION_CLASS_BF16;
  return v1::PRECISION_CLASS_UNSPECIFIED;
}

}  // namespace warpsmith::evaluate
