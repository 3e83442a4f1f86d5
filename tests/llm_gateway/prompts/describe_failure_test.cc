#include "llm_gateway/prompts/describe_failure.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("compile errors: from the first error on, and what is left out is said", "[unit]") {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_COMPILE_ERROR);
  evaluation.mutable_compile()->set_log("a warning\ncandidate.cu(7): error: identifier \"foo\" is undefined\nand more");
  std::string text = DescribeFailure(evaluation);
  CHECK_THAT(text, Contains("candidate.cu(7): error") && Contains("and more") && !Contains("a warning") &&
                       Contains("[1 lines before the first error are left out]"));
  std::string log = "candidate.cu(1): error: first\n";
  for (int i = 0; i < 5000; ++i) log += "candidate.cu(2): error: number " + std::to_string(i) + "\n";
  evaluation.mutable_compile()->set_log(log);
  text = DescribeFailure(evaluation);
  CHECK_THAT(text, Contains("error: first") && Contains("number 0") && !Contains("number 4999") &&
                       Contains("more lines are left out"));
  CHECK(text.size() < 10000);
  CHECK(FirstErrors("no such word", 100) == "no such word");
  CHECK(FirstErrors(std::string(100000, 'e'), 1000).size() <= 1000);
}

TEST_CASE("a wrong output: where, what and on which inputs", "[unit]") {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_WRONG_OUTPUT);
  evaluation.set_failed_stage("distribution");
  v1::Mismatch& mismatch = *evaluation.mutable_mismatch();
  mismatch.set_output("output");
  mismatch.add_index(3);
  mismatch.add_index(17);
  mismatch.set_expected(0.5);
  mismatch.set_got(0.25);
  mismatch.set_wrong_elements(12);
  mismatch.set_elements(2048);
  for (const char* passed : {"plain", "plain", "scaled"}) {
    evaluation.add_trials()->set_distribution(passed);
    evaluation.mutable_trials(evaluation.trials_size() - 1)->set_passed(true);
  }
  v1::TrialVerdict& trial = *evaluation.add_trials();
  trial.set_distribution("mean_1000");
  trial.set_relative_rms_error(0.5);
  trial.set_after_timed_launch(true);
  std::string text = DescribeFailure(evaluation);
  CHECK_THAT(text, Contains("at stage distribution") &&
                       Contains("In `output` at index (3, 17): expected 0.5, got 0.25 (off by -0.25, 0.5 of it); 12 of "
                                "2048 elements are wrong (0.586 %)") &&
                       Contains("Input distribution mean_1000: relative RMS error 0.5") &&
                       Contains("in a timed launch") && Contains("Passed on inputs of: plain, scaled.") &&
                       Contains("cancellation"));
  mismatch.set_got(std::numeric_limits<double>::quiet_NaN());
  CHECK_THAT(DescribeFailure(evaluation), Contains("got nan; 12 of"));
}

TEST_CASE("every other outcome: what the runner said, and what it means", "[unit]") {
  for (v1::Outcome outcome :
       {v1::OUTCOME_PLAN_ERROR, v1::OUTCOME_OUT_OF_MEMORY, v1::OUTCOME_TIMEOUT, v1::OUTCOME_ILLEGAL_ACCESS,
        v1::OUTCOME_LAUNCH_ERROR, v1::OUTCOME_OUT_OF_BOUNDS, v1::OUTCOME_INPUT_MODIFIED, v1::OUTCOME_UNWRITTEN_OUTPUT,
        v1::OUTCOME_NON_FINITE, v1::OUTCOME_SUSPICIOUS}) {
    v1::Evaluation evaluation;
    evaluation.set_outcome(outcome);
    evaluation.set_reason("the_reason");
    evaluation.set_message("steps[1].args[2]: what the runner said");
    std::string text = DescribeFailure(evaluation);
    INFO(text);
    CHECK_THAT(text, Contains("reason the_reason") && Contains("steps[1].args[2]: what the runner said"));
    CHECK(text.size() > text.find("what the runner said") + 60);  // with a sentence on what to look for
  }
}

TEST_CASE("a launch that was refused shows the kernels' resources, a profile its summary", "[unit]") {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_LAUNCH_ERROR);
  v1::KernelResources& kernel = *evaluation.mutable_compile()->add_kernels();
  kernel.set_name("rows");
  kernel.set_registers(255);
  kernel.set_max_threads_per_block(256);
  evaluation.mutable_profile()->set_summary("latency bounds it");
  CHECK_THAT(DescribeFailure(evaluation), Contains("rows: 255 registers a thread") &&
                                              Contains("256 threads a block at most") &&
                                              Contains("Profile: latency bounds it."));
}

TEST_CASE("an outcome in one line", "[unit]") {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_OK);
  evaluation.mutable_timing()->set_median_ms(0.812);
  evaluation.set_ratio_to_eager(1.41);
  CHECK(DescribeOutcome(evaluation) == "ok, 0.812 ms, 1.41x as fast as PyTorch eager");
  evaluation.set_outcome(v1::OUTCOME_TIMEOUT);
  evaluation.set_reason("time");
  evaluation.set_message("two\nlines");
  CHECK(DescribeOutcome(evaluation) == "timeout (time): two lines");
}

}  // namespace
}  // namespace warpsmith::gateway
