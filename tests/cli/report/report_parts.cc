#include "tests/cli/report/report_parts.h"

#include <fmt/format.h>

namespace warpsmith::testing {

std::string Hex(int number, const char* letter) {
  return fmt::format("{}{:07x}{:024x}", letter, number, number * 7919);
}

void AddBaseline(v1::Search* search, const std::string& name, double ms, v1::PrecisionClass precision) {
  v1::Baseline& baseline = *search->mutable_problem()->add_baselines();
  baseline.set_name(name);
  baseline.set_median_ms(ms);
  baseline.set_spread(0.004);
  baseline.set_samples(60);
  baseline.set_precision_class(precision);
  baseline.set_device_name(search->emulated() ? "emulated" : "NVIDIA H200");
  baseline.set_emulated(search->emulated());
  baseline.set_pytorch_version("2.11.0");
}

v1::Candidate* AddCandidate(v1::IdeaNode* node, const std::string& id) {
  v1::Candidate* candidate = node->add_candidates();
  candidate->set_id(id);
  candidate->set_idea_id(node->idea().id());
  candidate->set_parent_id(node->parent_id());
  candidate->set_round(node->round());
  candidate->set_index(node->candidates_size() - 1);
  candidate->set_state("done");
  candidate->set_model("model-a");
  return candidate;
}

v1::Candidate* AddTimed(v1::IdeaNode* node, const std::string& id, double ms, bool emulated) {
  v1::Candidate* candidate = AddCandidate(node, id);
  v1::Evaluation& evaluation = *candidate->mutable_evaluation();
  evaluation.set_outcome(v1::OUTCOME_OK);
  evaluation.set_reached(v1::PRECISION_CLASS_FP32);
  evaluation.mutable_timing()->set_median_ms(ms);
  evaluation.mutable_timing()->set_spread(0.003);
  evaluation.mutable_timing()->set_samples(40);
  evaluation.mutable_timing()->set_stage("measure");
  evaluation.mutable_timing()->set_device_name(emulated ? "emulated" : "NVIDIA H200");
  evaluation.mutable_timing()->set_emulated(emulated);
  evaluation.set_ratio_to_eager(kEager / ms);
  return candidate;
}

void AddFailed(v1::IdeaNode* node, const std::string& id, v1::Outcome outcome, const std::string& reason,
               const std::string& message) {
  v1::Evaluation& evaluation = *AddCandidate(node, id)->mutable_evaluation();
  evaluation.set_outcome(outcome);
  evaluation.set_reason(reason);
  evaluation.set_message(message);
}

v1::IdeaNode* AddIdea(v1::SearchReport* report, int round, const std::string& parent, const std::string& title,
                      const std::string& category, const std::string& hypothesis) {
  v1::IdeaNode* node = report->add_ideas();
  node->set_round(round);
  node->set_parent_id(parent);
  node->mutable_idea()->set_id(Hex(report->ideas_size(), "d"));
  node->mutable_idea()->set_title(title);
  node->mutable_idea()->set_category(category);
  node->mutable_idea()->set_hypothesis(hypothesis);
  node->mutable_idea()->set_origin("model-a");
  return node;
}

void AddRound(v1::Search* search, int ideas, int generated, int compiled, int correct, int faster, double round_best,
              const std::string& idea) {
  const double before = search->rounds_size() > 0 ? search->rounds(search->rounds_size() - 1).best_ms() : 0;
  const double best = round_best > 0 && (before == 0 || round_best < before) ? round_best : before;
  v1::RoundSummary& round = *search->add_rounds();
  round.set_round(search->rounds_size());
  round.set_ideas(ideas);
  round.set_generated(generated);
  round.set_compiled(compiled);
  round.set_correct(correct);
  round.set_faster(faster);
  round.set_round_best_ms(round_best);
  round.set_best_ms(best);
  if (best > 0) round.set_best_ratio_to_eager(kEager / best);
  round.set_best_idea(idea);
  round.set_closed_at_us(kSubmitted + int64_t{60'000'000} * round.round());
}

v1::SearchReport Begun(const std::string& name) {
  v1::SearchReport report;
  v1::Search& search = *report.mutable_search();
  search.set_id("3f2a91c0d4e5f60718293a4b5c6d7e8f");
  search.set_name(name);
  search.set_state(v1::SEARCH_STATE_RUNNING);
  search.set_submitted_at_us(kSubmitted);
  search.set_submitted_by("ada");
  search.mutable_settings()->set_rounds(3);
  search.mutable_settings()->set_strategy("branching");
  search.mutable_problem()->set_name(name);
  report.set_written_at_us(kSubmitted + int64_t{3'600'000'000});
  report.set_version("0.1.0");
  return report;
}

}  // namespace warpsmith::testing
