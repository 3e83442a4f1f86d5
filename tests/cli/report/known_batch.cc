#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tests/cli/report/known_reports.h"
#include "tests/cli/report/report_parts.h"

namespace warpsmith::testing {

v1::BatchReport KnownBatch() {
  v1::BatchReport report;
  v1::Batch& batch = *report.mutable_batch();
  batch.set_id("b7c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5");
  batch.set_name("level1");
  batch.set_owner("ada");
  batch.set_state("running");
  batch.set_submitted_at_us(kSubmitted);
  batch.mutable_limits()->set_max_usd(50);
  report.set_written_at_us(kSubmitted + int64_t{7'200'000'000});
  report.set_version("0.1.0");
  const char* names[] = {"1_Square_matrix_multiplication_",
                         "12_Matmul_with_diagonal_matrices_",
                         "19_ReLU",
                         "23_Softmax",
                         "33_BatchNorm",
                         "36_RMSNorm_",
                         "40_LayerNorm",
                         "47_Sum_reduction_over_a_dimension",
                         "54_conv_standard_3D__square_input__square_kernel",
                         "89_cumsum",
                         "95_CrossEntropyLoss",
                         "97_ScaledDotProductAttention"};
  // To eager: above 2 twice, above 1.5 four times, above 1 seven times, nine in all.
  const double ratios[] = {0.82, 12.4, 1.01, 1.62, 1.2, 1.75, 3.0, 0.97, 0, 1.31, 0, 0};
  for (int i = 0; i < 12; ++i) {
    v1::SearchReport one = i == 6 ? KnownSearch() : Begun(names[i]);
    v1::Search& search = *one.mutable_search();
    search.set_id(Hex(i + 1, "c"));
    search.set_name(names[i]);
    if (i != 6) {
      AddBaseline(&search, "eager", kEager, v1::PRECISION_CLASS_FP32);
      if (i < 10) AddBaseline(&search, "compile_default", kEager * 0.8, v1::PRECISION_CLASS_FP32);
      for (int round = 1; ratios[i] > 0 && round <= 3; ++round) {
        v1::IdeaNode* node = AddIdea(&one, round, "", fmt::format("Idea of round {}", round), "compute", "It helps.");
        const double ms = kEager / (ratios[i] * (0.7 + 0.1 * round));
        v1::Candidate* candidate = AddTimed(node, Hex(100 * (i + 1) + round, "e"), ms);
        AddFailed(node, Hex(100 * (i + 1) + 50 + round, "e"), v1::OUTCOME_TIMEOUT, "", "one run took more than 20 s");
        AddRound(&search, 1, 2, 2, 1, 1, ms, node->idea().title());
        if (round == 3) {
          search.set_best_candidate_id(candidate->id());
          search.set_best_ms(kEager / ratios[i]);
          search.set_best_ratio_to_eager(ratios[i]);
        }
      }
      if (i == 8) {
        AddFailed(AddIdea(&one, 1, "", "Implicit GEMM", "compute", ""), Hex(900, "e"), v1::OUTCOME_COMPILE_ERROR,
                  "source", "error");
        AddRound(&search, 1, 1, 0, 0, 0, 0, "");
      }
      search.set_state(i == 10 ? v1::SEARCH_STATE_FAILED : i == 11 ? v1::SEARCH_STATE_INTAKE : v1::SEARCH_STATE_DONE);
      if (i < 10) search.set_finish_reason("rounds");
      search.mutable_usage()->set_usd(i < 10 ? 2.5 : 0);
    }
    v1::BatchProblem& problem = *batch.add_problems();
    problem.set_search_id(search.id());
    problem.set_name(names[i]);
    problem.set_level(1);
    problem.set_state(search.state());
    problem.set_round(i < 10 ? 3 : 0);
    problem.set_rounds(3);
    problem.set_best_candidate_id(search.best_candidate_id());
    problem.set_best_ms(search.best_ms());
    problem.set_ratio_to_eager(search.best_ratio_to_eager());
    *problem.mutable_usage() = search.usage();
    problem.set_finish_reason(search.finish_reason());
    if (i == 10) problem.set_error("forward() raised RuntimeError");
    *report.add_searches() = std::move(one);
  }
  v1::BatchTotals& totals = *batch.mutable_totals();
  totals.set_problems(12);
  totals.set_ended(11);
  totals.set_failed(1);
  totals.set_solved(9);
  double logs = 0;
  const auto above = [&](double p) {
    return std::count_if(std::begin(ratios), std::end(ratios), [p](double ratio) { return ratio > p; }) / 12.0;
  };
  for (const double ratio : ratios) logs += ratio > 0 ? std::log(ratio) / 9 : 0;
  totals.set_fast_0(above(0));
  totals.set_fast_1(above(1));
  totals.set_fast_1_5(above(1.5));
  totals.set_fast_2(above(2));
  totals.set_geometric_mean_ratio(std::exp(logs));
  totals.mutable_usage()->set_usd(25.75);
  totals.mutable_usage()->set_input_tokens(9'000'000);
  totals.mutable_usage()->set_output_tokens(2'000'000);
  totals.mutable_usage()->set_gpu_seconds(3184.2);
  totals.mutable_usage()->set_model_calls(321);
  return report;
}

}  // namespace warpsmith::testing
