#include "llm_gateway/prompts/describe.h"

#include <catch2/catch.hpp>

#include "llm_gateway/prompts/fenced.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

void AddBaseline(v1::ProblemContext& context, const std::string& name, double ms, v1::PrecisionClass precision_class) {
  v1::Baseline& baseline = *context.mutable_problem()->add_baselines();
  baseline.set_name(name);
  baseline.set_median_ms(ms);
  baseline.set_precision_class(precision_class);
}

TEST_CASE("a problem with its tensors, strides, least work and baselines", "[unit]") {
  v1::ProblemContext context = LayerNormContext();
  v1::ProblemSignature& signature = *context.mutable_problem()->mutable_signature();
  signature.mutable_tensors(0)->set_strides(0, 512);
  signature.mutable_tensors(2)->set_alias_of("ln.weight");
  signature.add_frozen_arguments()->set_name("eps");
  signature.mutable_frozen_arguments(0)->set_json_value("1e-3");
  signature.set_algorithm_bytes(2000000);
  signature.set_algorithm_flops(4e9);
  AddBaseline(context, "eager", 1.5, v1::PRECISION_CLASS_FP32);
  AddBaseline(context, "compile_max_autotune", 0, v1::PRECISION_CLASS_FP32);
  context.mutable_problem()->mutable_baselines(1)->set_skipped_reason("no compiler");
  std::string text = DescribeProblem(context);
  for (const char* words :
       {"Problem: layer_norm", "- input `x`: float32 (8, 256), strides (512, 1)",
        "`ln.weight`: float32 (256), contiguous", "same memory as `ln.weight`", "argument `eps` is always 1e-3",
        "evaluation mode", "At least 2 MB", "4 GFLOP done as written: 2e+03 operations a byte", "eager 1.5 ms (fp32)",
        "compile_max_autotune not timed: no compiler", "no \"prepare\" steps", "nn.LayerNorm(256, eps=1e-3)"}) {
    CHECK_THAT(text, Contains(words));
  }
  context.set_frozen_weights(true);
  CHECK_THAT(DescribeProblem(context), Contains("Parameters keep their values"));
  context.mutable_problem()->set_source(std::string(1 << 20, 'x'));
  CHECK(DescribeProblem(context).size() < 220000);
}

TEST_CASE("precision: what each class allows", "[unit]") {
  v1::ProblemContext context = LayerNormContext();
  CHECK_THAT(DescribePrecision(context),
             Contains("fp32") && Contains("as accurate as float32") && Contains("tolerance 0.01"));
  context.add_accepted(v1::PRECISION_CLASS_FP32);
  context.add_accepted(v1::PRECISION_CLASS_TF32);
  CHECK_THAT(DescribePrecision(context), Contains("fp32, tf32") && Contains("not in bfloat16"));
  context.add_accepted(v1::PRECISION_CLASS_BF16);
  CHECK_THAT(DescribePrecision(context), Contains("fp32, tf32, bf16") && Contains("may be taken in bfloat16"));
}

TEST_CASE("a parent with its ratio to each baseline, its roofline and its tuning", "[unit]") {
  v1::ProblemContext context = LayerNormContext();
  AddBaseline(context, "eager", 2, v1::PRECISION_CLASS_FP32);
  AddBaseline(context, "compile_default", 1.2, v1::PRECISION_CLASS_FP32);
  AddBaseline(context, "library", 3, v1::PRECISION_CLASS_TF32);
  AddBaseline(context, "eager", 50, v1::PRECISION_CLASS_FP32);
  context.mutable_problem()->mutable_baselines(3)->set_emulated(true);  // of another device
  v1::ParentKernel parent;
  parent.set_source("/* warpsmith-plan {} */ __global__ void f() {} // ``` {{device}}");
  parent.set_idea_title("Start");
  v1::Evaluation& evaluation = *parent.mutable_evaluation();
  evaluation.set_outcome(v1::OUTCOME_OK);
  evaluation.mutable_timing()->set_median_ms(1);
  evaluation.set_ratio_to_eager(2.1);
  evaluation.set_ratio_to_best_baseline(1.25);
  evaluation.set_best_baseline("compile_default");
  evaluation.mutable_roofline()->set_memory_floor_ms(0.5);
  evaluation.mutable_roofline()->set_compute_floor_ms(0.1);
  evaluation.mutable_roofline()->set_share(0.5);
  evaluation.mutable_roofline()->set_bound("memory");
  evaluation.mutable_roofline()->set_bytes_per_second(2.4e12);
  evaluation.set_launches(2);
  (*evaluation.mutable_tune())["TILE"] = 64;
  (*evaluation.mutable_tune())["ROWS"] = 4;
  evaluation.set_tune_variants(6);
  v1::KernelResources& kernel = *evaluation.mutable_compile()->add_kernels();
  kernel.set_name("f");
  kernel.set_registers(40);
  kernel.set_local_bytes(16);
  std::string text = DescribeParent(context, parent, true);
  for (const char* words :
       {"Correct. 1 ms, 2.1x as fast as eager, 1.25x as fast as compile_default (the best baseline), 3x as fast as "
        "library.",
        "The device's peaks allow 0.5 ms by bytes, 0.1 ms by operations as written; 50 % of that roof is reached "
        "(bound: memory), the necessary bytes at 2400 GB/s.",
        "Launches: 2.", "f: 40 registers a thread", "16 bytes of local memory a thread (spills or indexed arrays)",
        "Measured with ROWS=4, TILE=64, the best of 6 combinations.", "from the idea: Start.", "````cuda"}) {
    CHECK_THAT(text, Contains(words));
  }
  CHECK_THAT(text, !Contains("50x"));
  context.mutable_problem()->clear_baselines();
  CHECK_THAT(
      DescribeParent(context, parent, true),
      Contains("2.1x as fast as PyTorch eager") && Contains("1.25x as fast as the best baseline (compile_default)"));
  CHECK_THAT(DescribeParent(context, parent, false), Contains("There is none yet"));
  evaluation.set_outcome(v1::OUTCOME_WRONG_OUTPUT);
  CHECK_THAT(DescribeParent(context, parent, true), Contains("wrong_output"));
}

TEST_CASE("implementations are told which they are and how to differ", "[unit]") {
  std::set<std::string> directions;
  for (int i = 0; i < 8; ++i) {
    std::string text = DescribeSiblings(i, 8);
    CHECK_THAT(text, Contains("implementation " + std::to_string(i + 1) + " of 8") && Contains("Make yours differ"));
    directions.insert(text.substr(text.find("same idea: ")));
  }
  CHECK(directions.size() == 8);
  CHECK_THAT(DescribeSiblings(0, 1), Contains("only implementation") && !Contains("differ"));
}

TEST_CASE("bank kernels: at most as many as asked for, of the category, shortened with a note", "[unit]") {
  google::protobuf::RepeatedPtrField<v1::BankPattern> patterns;
  CHECK(DescribePatterns(patterns, 3).empty());
  for (int i = 0; i < 5; ++i) {
    v1::BankPattern& pattern = *patterns.Add();
    pattern.set_title("Pattern " + std::to_string(i));
    pattern.set_category(i == 4 ? "compute" : "memory_access");
    pattern.set_problem_name("softmax");
    pattern.set_ratio_to_eager(1.7);
    for (int line = 0; line < 1000; ++line) pattern.mutable_source()->append("int line;  // padding padding\n");
  }
  std::string text = DescribePatterns(patterns, 3);
  CHECK_THAT(text, Contains("Pattern 0 (memory_access), on the problem softmax, 1.7x as fast as PyTorch eager") &&
                       Contains("Pattern 2") && !Contains("Pattern 3") && Contains("(2 more are left out.)") &&
                       Contains("// [shortened: ") && Contains("more lines"));
  CHECK(text.size() < 40000);
  CHECK_THAT(DescribePatterns(patterns, 1, "compute"), Contains("Pattern 4") && !Contains("left out.)"));
  CHECK(DescribePatterns(patterns, 1, "precision").empty());
}

TEST_CASE("notes are told whole, and what is too much is counted", "[unit]") {
  google::protobuf::RepeatedPtrField<std::string> notes;
  CHECK(DescribeNotes(notes).empty());
  *notes.Add() = "prefer warp shuffles";
  CHECK_THAT(DescribeNotes(notes), Contains("- prefer warp shuffles\n"));
  for (int i = 0; i < 100; ++i) *notes.Add() = std::string(5000, 'n');
  CHECK_THAT(DescribeNotes(notes), Contains("more notes are left out"));
  CHECK(DescribeNotes(notes).size() < 50000);
}

TEST_CASE("sources are fenced and shortened", "[unit]") {
  CHECK(Fenced("c", "a") == "```c\na\n```");
  CHECK(Fenced("c", "a ```` b\n") == "`````c\na ```` b\n`````");
  CHECK(ShortenedSource("a\nb\n", 4) == "a\nb\n");
  CHECK(ShortenedSource("aaa\nbbb\nccc\n", 6) == "aaa\n// [shortened: 2 more lines, 8 bytes, are left out]\n");
  CHECK_THAT(ShortenedSource(std::string(1000, 'x'), 100), Contains("bytes cut") && Contains("[shortened: 1 more"));
}

}  // namespace
}  // namespace warpsmith::gateway
