#include "tests/cli/report/known_reports.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "tests/cli/report/report_parts.h"

namespace warpsmith::testing {
namespace {

// Draws that are the same everywhere.
class Draws {
 public:
  double Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  uint64_t state_ = 42;
};

void SetProfile(v1::Candidate* candidate, double intensity, double bytes, bool whole) {
  v1::Profile& profile = *candidate->mutable_evaluation()->mutable_profile();
  v1::ProfileRoofline& roofline = *profile.mutable_roofline();
  roofline.set_arithmetic_intensity(intensity);
  roofline.set_bytes_per_second(bytes);
  roofline.set_peak_bytes_per_second(4.8e12);
  roofline.set_flops_per_second(intensity * bytes);
  roofline.set_peak_flops_per_second(6.7e13);
  roofline.set_arithmetic("fp32");
  roofline.set_share(bytes / 4.8e12);
  profile.set_bound_by("dram_bandwidth");
  profile.set_summary("DRAM bandwidth bounds it: 83 % of the peak");
  if (!whole) return;
  profile.set_passes(20);
  profile.set_seconds(1.5);
  profile.set_chip("GH100");
  v1::ProfileFigure& figure = *profile.add_figures();
  figure.set_name("DRAM throughput");
  figure.set_value(83.3);
  figure.set_unit("% of peak");
  v1::ProfileStep& step = *profile.add_steps();
  step.set_kernel("layer_norm_rows");
  step.set_launches(1);
  step.set_time_ms(0.498);
  step.set_share(0.996);
  step.set_registers(64);
  step.set_static_shared_bytes(1024);
  step.set_occupancy(0.5);
  step.set_occupancy_limiter("registers");
  step.set_bound_by("dram_bandwidth");
}

constexpr char kParentSource[] =
    "/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"kernel\": \"layer_norm_rows\", \"grid\": [512], \"block\": "
    "[256],\n"
    "  \"args\": [\"x\", \"output\"]}]}\n*/\n__global__ void layer_norm_rows(const float* x, float* y) {\n  float sum "
    "= 0;\n"
    "  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];\n  y[threadIdx.x] = sum;\n}\n";
constexpr char kBestSource[] =
    "/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"kernel\": \"layer_norm_rows\", \"grid\": [512], \"block\": "
    "[256],\n"
    "  \"args\": [\"x\", \"output\"]}]}\n*/\n__global__ void layer_norm_rows(const float* x, float* y) {\n  float4 "
    "row[4];\n"
    "  float sum = 0;\n  for (int i = 0; i < 4; ++i) sum += row[i].x;\n  y[threadIdx.x] = sum;\n}\n";

v1::Candidate Whole(const v1::IdeaNode& node, const v1::Candidate& candidate, const std::string& source) {
  v1::Candidate whole = candidate;
  *whole.mutable_idea() = node.idea();
  whole.set_source(source);
  for (int i = 0; i < 6; ++i) {
    v1::TrialVerdict& trial = *whole.mutable_evaluation()->add_trials();
    trial.set_distribution(i < 4 ? "plain" : "mean_1000");
    trial.set_passed(true);
    trial.set_relative_rms_error(1e-7 * (i + 1));
    trial.set_worst_tile_error(2e-7);
    trial.set_max_error(3e-7);
    trial.set_after_timed_launch(i == 3);
  }
  return whole;
}

void SetUsage(v1::SearchReport* report) {
  v1::Usage& usage = *report->mutable_search()->mutable_usage();
  usage.set_usd(3.25);
  usage.set_input_tokens(1'234'567);
  usage.set_output_tokens(456'789);
  usage.set_model_calls(18);
  usage.set_gpu_seconds(412.5);
  v1::CallTotals& propose = *report->add_calls();
  propose.set_kind("propose");
  propose.set_model("model-a");
  propose.set_calls(6);
  propose.set_input_tokens(234'567);
  propose.set_output_tokens(56'789);
  propose.set_usd(0.75);
  propose.set_seconds(90);
  v1::CallTotals& implement = *report->add_calls();
  implement = propose;
  implement.set_kind("implement");
  implement.set_calls(12);
  implement.set_failed(1);
  implement.set_input_tokens(1'000'000);
  implement.set_output_tokens(400'000);
  implement.set_usd(2.5);
  implement.set_seconds(480);
}

}  // namespace

v1::SearchReport KnownSearch() {
  v1::SearchReport report = Begun("40_LayerNorm");
  v1::Search& search = *report.mutable_search();
  search.mutable_problem()->set_source("class Model(nn.Module):\n    pass\n");
  search.mutable_problem()->mutable_signature()->set_operator_family("layer_norm");
  AddBaseline(&search, "eager", kEager, v1::PRECISION_CLASS_FP32);
  AddBaseline(&search, "compile_default", 0.9, v1::PRECISION_CLASS_FP32);
  AddBaseline(&search, "library", 0.75, v1::PRECISION_CLASS_FP32);
  AddBaseline(&search, "compile_max_autotune", 0, v1::PRECISION_CLASS_UNSPECIFIED);
  search.mutable_problem()->mutable_baselines(3)->set_skipped_reason("autotuning needs Triton");

  v1::IdeaNode* first = AddIdea(&report, 1, "", "One block a row, warp shuffles for the sums", "parallelism_occupancy",
                                "Rows are independent; a block can hold one.");
  AddTimed(first, Hex(1, "a"), 2.0);
  AddFailed(first, Hex(2, "a"), v1::OUTCOME_COMPILE_ERROR, "source",
            "candidate.cu(12): error: identifier \"rown\" is undefined");
  AddFailed(first, Hex(3, "a"), v1::OUTCOME_COMPILE_ERROR, "source", "candidate.cu(30): error: expected a \";\"");
  v1::IdeaNode* second = AddIdea(&report, 1, "", "Load four floats at once", "memory_access", "");
  AddTimed(second, Hex(4, "a"), 1.25);
  v1::Candidate* rejected = AddCandidate(second, Hex(5, "a"));
  rejected->set_state("rejected");
  rejected->set_reject_reason("no_code");
  AddRound(&search, 2, 4, 2, 2, 0, 1.25, "Load four floats at once");

  v1::IdeaNode* third = AddIdea(&report, 2, Hex(4, "a"), "Keep the row in registers", "memory_access",
                                "The row is read twice; registers hold it after the first time.");
  AddTimed(third, Hex(6, "a"), 0.75);
  AddFailed(third, Hex(7, "a"), v1::OUTCOME_WRONG_OUTPUT, "",
            "output[3, 17]: expected 0.5, got 0.25; 4096 of 2097152 elements are wrong");
  AddTimed(third, Hex(8, "a"), 6.0)->mutable_evaluation()->set_reason("screened");
  v1::IdeaNode* fourth =
      AddIdea(&report, 2, Hex(4, "a"), "Overlap loads with cp.async", "async_latency", "Loads wait.");
  AddTimed(fourth, Hex(9, "a"), 0.05)->mutable_evaluation()->set_outcome(v1::OUTCOME_SUSPICIOUS);
  AddFailed(fourth, Hex(10, "a"), v1::OUTCOME_INFRA_ERROR, "worker", "the worker was lost");
  AddRound(&search, 2, 5, 4, 2, 1, 0.75, "Keep the row in registers");

  v1::IdeaNode* fifth =
      AddIdea(&report, 3, Hex(6, "a"), "Two rows a block", "parallelism_occupancy", "Half of the SM idles.");
  v1::Candidate* best = AddTimed(fifth, Hex(11, "a"), 0.5);
  AddTimed(fifth, Hex(12, "a"), 0.6);
  AddRound(&search, 1, 2, 2, 2, 2, 0.5, "Two rows a block");

  v1::Evaluation& evaluation = *best->mutable_evaluation();
  evaluation.mutable_timing()->set_stage("confirm");
  evaluation.set_ratio_to_best_baseline(1.5);
  evaluation.set_best_baseline("library");
  v1::Confirmation& confirmation = *evaluation.mutable_confirmation();
  confirmation.set_ratio_to_reference(2.98);
  confirmation.set_reference_low(2.95);
  confirmation.set_reference_high(3.02);
  v1::Roofline& roofline = *evaluation.mutable_roofline();
  roofline.set_memory_floor_ms(0.42);
  roofline.set_compute_floor_ms(0.03);
  roofline.set_share(0.84);
  roofline.set_bound("memory");
  SetProfile(third->mutable_candidates(0), 2.2, 2.7e12, false);
  SetProfile(best, 2.5, 4.0e12, false);

  search.set_state(v1::SEARCH_STATE_DONE);
  search.set_finish_reason("rounds");
  search.set_finished_at_us(kSubmitted + int64_t{200'000'000});
  search.set_best_candidate_id(best->id());
  search.set_best_ms(0.5);
  search.set_best_ratio_to_eager(3.0);
  for (const int i : {4, 6, 11}) report.add_best_lineage(Hex(i, "a"));
  *report.add_kernels() = Whole(*second, second->candidates(0), kParentSource);
  *report.add_kernels() = Whole(*third, third->candidates(0), kParentSource);
  *report.add_kernels() = Whole(*fifth, *best, kBestSource);
  SetProfile(report.mutable_kernels(2), 2.5, 4.0e12, true);
  SetUsage(&report);
  return report;
}

v1::SearchReport EmptySearch() {
  v1::SearchReport report = Begun("23_Softmax");
  report.mutable_search()->set_state(v1::SEARCH_STATE_INTAKE);
  return report;
}

v1::SearchReport FailedSearch() {
  v1::SearchReport report = Begun("95_CrossEntropyLoss");
  report.mutable_search()->set_state(v1::SEARCH_STATE_FAILED);
  report.mutable_search()->set_error("95_CrossEntropyLoss.py, line 12: forward() raised RuntimeError");
  report.mutable_search()->set_finished_at_us(kSubmitted + 4'000'000);
  return report;
}

v1::SearchReport LargeSearch(int candidates) {
  constexpr int kRounds = 10;
  v1::SearchReport report = Begun("large");
  v1::Search& search = *report.mutable_search();
  search.set_emulated(true);
  AddBaseline(&search, "eager", kEager, v1::PRECISION_CLASS_FP32);
  Draws draws;
  std::string best_id;
  int made = 0;
  for (int round = 1; round <= kRounds; ++round) {
    double round_best = 0;
    int correct = 0, ideas = 0, compiled = 0;
    const int until = static_cast<int>(int64_t{candidates} * round / kRounds);
    const int from = made;
    while (made < until) {
      v1::IdeaNode* node = AddIdea(
          &report, round, best_id,
          fmt::format("Idea {} of round {}: tile {} by {}", ideas + 1, round, 16 << (ideas % 4), 32 << (ideas % 3)),
          ideas % 2 == 0 ? "memory_access" : "compute", "Fewer transactions for the same bytes.");
      ++ideas;
      for (int i = 0; i < 3 && made < until; ++i) {
        const std::string id = Hex(++made, "b");
        const double luck = draws.Next();
        if (luck < 0.2) {
          AddFailed(node, id, v1::OUTCOME_COMPILE_ERROR, "source", "candidate.cu(12): error: identifier is undefined");
        } else if (luck < 0.35) {
          AddFailed(node, id, v1::OUTCOME_WRONG_OUTPUT, "", "output[0]: expected 1, got 0");
          ++compiled;
        } else {
          const double ms = std::round(1e4 * 4.0 / (1 + 0.4 * round) * std::exp(0.8 * (draws.Next() - 0.3))) / 1e4;
          AddTimed(node, id, ms, true);
          ++correct;
          ++compiled;
          if (round_best == 0 || ms < round_best) {
            round_best = ms;
            best_id = id;
          }
        }
      }
    }
    AddRound(&search, ideas, made - from, compiled, correct, 1, round_best, "some idea");
  }
  search.set_best_ms(search.rounds(kRounds - 1).best_ms());
  search.set_best_ratio_to_eager(kEager / search.best_ms());
  return report;
}

}  // namespace warpsmith::testing
