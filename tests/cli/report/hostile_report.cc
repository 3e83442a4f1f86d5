#include <string>

#include "tests/cli/report/known_reports.h"

namespace warpsmith::testing {

v1::SearchReport HostileSearch() {
  const std::string attack =
      "</script></pre></title><script>window.hacked=1</script><img src=x onerror=window.hacked=1> \" "
      "onmouseover=\"hacked=1\" "
      "' <!-- \xE2\x80\xAE\x64\x65\x73\x72\x65\x76\x65\x72 \xE2\x81\xA6 \xE2\x80\x8B {{script}} &amp; \x1b[31m "
      "\xFF\xC0\x80 "
      "https://example.invalid/ javascript:hacked=1";
  const std::string name = attack + std::string(300, 'W');
  v1::SearchReport report = KnownSearch();
  v1::Search& search = *report.mutable_search();
  search.set_name(name);
  search.set_submitted_by(attack);
  search.mutable_problem()->set_source(attack);
  for (v1::Baseline& baseline : *search.mutable_problem()->mutable_baselines()) {
    baseline.set_device_name(attack);
    baseline.set_skipped_reason(attack);
    baseline.set_pytorch_version(attack);
  }
  for (v1::RoundSummary& round : *search.mutable_rounds()) round.set_best_idea(name);
  const auto spoil_idea = [&](v1::Idea* idea) {
    idea->set_title(name);
    idea->set_category(attack);
    idea->set_hypothesis(name);
    idea->set_origin(attack);
    idea->set_bottleneck(attack);
    idea->add_plan(name);
  };
  const auto spoil = [&](v1::Candidate* candidate) {
    candidate->set_model(attack);
    candidate->set_reject_reason(attack);
    v1::Evaluation& evaluation = *candidate->mutable_evaluation();
    if (evaluation.outcome() != v1::OUTCOME_OK) evaluation.set_reason(attack);
    evaluation.set_message(name + std::string(5000, 'x'));
    evaluation.add_flags(attack);
    evaluation.mutable_timing()->set_device_name(attack);
    evaluation.mutable_timing()->set_stage(attack);
    evaluation.set_best_baseline(attack);
    if (evaluation.has_profile()) {
      evaluation.mutable_profile()->set_summary(attack);
      evaluation.mutable_profile()->set_bound_by(attack);
      evaluation.mutable_profile()->mutable_roofline()->set_arithmetic(attack);
      for (v1::ProfileStep& step : *evaluation.mutable_profile()->mutable_steps()) step.set_kernel(attack);
    }
    for (v1::TrialVerdict& trial : *evaluation.mutable_trials()) trial.set_distribution(attack);
    if (!candidate->source().empty()) candidate->set_source(candidate->source() + "// " + name + "\n");
    if (candidate->has_idea()) spoil_idea(candidate->mutable_idea());
  };
  for (v1::IdeaNode& node : *report.mutable_ideas()) {
    spoil_idea(node.mutable_idea());
    for (v1::Candidate& candidate : *node.mutable_candidates()) spoil(&candidate);
  }
  for (v1::Candidate& kernel : *report.mutable_kernels()) spoil(&kernel);
  for (v1::CallTotals& calls : *report.mutable_calls()) calls.set_model(attack);
  return report;
}

}  // namespace warpsmith::testing
