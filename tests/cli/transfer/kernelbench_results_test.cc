#include "cli/transfer/kernelbench_results.h"

#include <catch2/catch.hpp>

namespace warpsmith::transfer {
namespace {

v1::ExportedProblem Solved(int number, double ms, double ratio, double compile_ms) {
  v1::ExportedProblem problem;
  problem.set_level(1);
  problem.set_number(number);
  problem.mutable_problem()->set_name(std::to_string(number) + "_Softmax");
  problem.mutable_device()->set_name("NVIDIA H200");
  problem.mutable_kernel()->set_median_ms(ms);
  problem.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  problem.mutable_evaluation()->set_ratio_to_eager(ratio);
  if (compile_ms > 0) {
    v1::Baseline* baseline = problem.mutable_problem()->add_baselines();
    baseline->set_name("compile_default");
    baseline->set_median_ms(compile_ms);
  }
  return problem;
}

TEST_CASE("fast_p counts all problems and wants more than p", "[unit]") {
  FastP fast;
  fast.Add(Solved(1, 1.0, 2.0, 1.0));  // exactly twice eager, exactly compile
  fast.Add(Solved(2, 2.0, 0.9, 1.0));
  fast.Add(Solved(3, 1.0, 3.0, 0));  // no compile baseline
  v1::ExportedProblem unsolved;
  unsolved.mutable_problem()->set_name("4_Nothing");
  unsolved.mutable_problem()->mutable_signature()->set_degenerate(true);
  fast.Add(unsolved);
  const Json json = fast.ToJson();
  CHECK(json["problems"] == 4);
  CHECK(json["correct"] == 3);
  CHECK(json["fast_p"]["eager"]["0"] == 0.75);
  CHECK(json["fast_p"]["eager"]["0.8"] == 0.75);
  CHECK(json["fast_p"]["eager"]["1"] == 0.5);
  CHECK(json["fast_p"]["eager"]["2"] == 0.25);
  CHECK(json["fast_p"]["compile"]["0"] == 0.75);
  CHECK(json["fast_p"]["compile"]["0.5"] == 0.25);
  CHECK(json["fast_p"]["compile"]["1"] == 0.0);
  CHECK(json["without_baseline"]["compile"] == 1);
  CHECK(json["degenerate"] == 1);
  CHECK_THAT(fast.ToText(), Catch::Contains("3 of 4 problems") && Catch::Contains("1 correct kernels have no compile"));
}

TEST_CASE("torch.compile is compared by way of eager, as in a report", "[unit]") {
  v1::ExportedProblem problem = Solved(1, 1.0, 3.3, 1.5);  // 1.65 times as fast as torch.compile
  v1::Baseline* eager = problem.mutable_problem()->add_baselines();
  eager->set_name("eager");
  eager->set_median_ms(3.0);
  FastP fast;
  fast.Add(problem);
  fast.Add(Solved(2, 1.0, 3.3, 1.5));  // without eager's time by its own: exactly 1.5
  CHECK(fast.ToJson()["fast_p"]["compile"]["1.5"] == 0.5);
}

TEST_CASE("results have KernelBench's fields", "[unit]") {
  v1::ExportedProblem problem = Solved(23, 2.0, 1.5, 0);
  for (const double sample : {1.0, 2.0, 3.0, 2.0})
    problem.mutable_evaluation()->mutable_timing()->add_sample_ms(sample);
  for (const bool passed : {true, true, false}) problem.mutable_evaluation()->add_trials()->set_passed(passed);
  CHECK(KernelFileName(problem) == "level_1_problem_23_sample_0_kernel.py");
  CHECK(LevelFolder(problem) == "level1");
  CHECK(ResultKey(problem) == "23");
  const Json result = EvaluationResult(problem, "")[0];
  CHECK(result["sample_id"] == 0);
  CHECK(result["compiled"] == true);
  CHECK(result["correctness"] == true);
  CHECK(result["runtime"] == 2.0);
  CHECK(result["runtime_stats"]["mean"] == 2.0);
  CHECK(result["runtime_stats"]["min"] == 1.0);
  CHECK(result["runtime_stats"]["max"] == 3.0);
  CHECK(result["runtime_stats"]["std"].get<double>() == Approx(std::sqrt(0.5)));
  CHECK(result["runtime_stats"]["num_trials"] == 4);
  CHECK(result["metadata"]["hardware"] == "NVIDIA H200");
  CHECK(result["metadata"]["correctness_trials"] == "(2 / 3)");
  problem.clear_kernel();
  problem.clear_evaluation();
  const Json none = EvaluationResult(problem, "")[0];
  CHECK(none["correctness"] == false);
  CHECK(none["runtime"] == -1.0);
  CHECK(none["metadata"]["runtime_error"] == "the search has found no correct kernel");
}

}  // namespace
}  // namespace warpsmith::transfer
