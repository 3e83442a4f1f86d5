#include "coordinator/bank/provenance.h"

#include <algorithm>
#include <set>

#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

constexpr int kMostLinks = 64;

}  // namespace

absl::StatusOr<v1::KernelProvenance> TellProvenance(store::Transaction& transaction, const store::SearchRecord& search,
                                                    const std::string& candidate_id, const v1::Evaluation& evaluation,
                                                    const v1::DeviceDescription& device, int64_t now_us) {
  v1::KernelProvenance provenance;
  provenance.set_search_id(search.id);
  provenance.set_search_name(search.name);
  provenance.set_candidate_id(candidate_id);
  provenance.set_submitted_by(search.submitted_by);

  std::set<std::string> seen;
  std::string at = candidate_id;
  while (!at.empty() && seen.insert(at).second && provenance.chain_size() < kMostLinks) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet steps, transaction.Execute("bank_chain_step", {at}));
    if (steps.empty()) break;
    v1::ChainLink* link = provenance.add_chain();
    link->set_title(steps[0].Text("title"));
    link->set_category(steps[0].Text("category"));
    link->set_origin(steps[0].Text("origin"));
    link->set_candidate_id(at);
    link->set_search_id(steps[0].Text("search_id"));
    at = steps[0].Text("parent_id");
  }
  std::reverse(provenance.mutable_chain()->begin(), provenance.mutable_chain()->end());

  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet calls, transaction.Execute("bank_call", {candidate_id}));
  if (!calls.empty()) {
    provenance.set_provider(calls[0].Text("provider"));
    provenance.set_model(calls[0].Text("model"));
    provenance.set_effort(calls[0].Text("effort"));
    provenance.set_prompt_version(calls[0].Text("prompt_version"));
    provenance.set_prompt_variant(calls[0].Text("prompt_variant"));
  } else {
    WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord candidate, store::GetCandidate(transaction, candidate_id));
    if (candidate.model != "operator") provenance.set_model(candidate.model);
  }

  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::Baseline> baselines, store::GetBaselines(transaction, search.id));
  for (const v1::Baseline& baseline : baselines) {
    *provenance.add_baselines() = baseline;
    if (provenance.pytorch_version().empty()) {
      provenance.set_pytorch_version(store::CleanLine(baseline.pytorch_version(), 80));
    }
  }
  provenance.set_harness_rev(store::CleanLine(evaluation.harness_rev(), 40));
  provenance.set_judge_rev(store::CleanLine(evaluation.judge_rev(), 40));
  *provenance.mutable_device() = device;
  provenance.set_median_ms(evaluation.timing().median_ms());
  provenance.set_ratio_to_eager(evaluation.ratio_to_eager());
  if (evaluation.has_confirmation()) *provenance.mutable_confirmation() = evaluation.confirmation();
  provenance.set_reached(evaluation.reached());
  *provenance.mutable_flags() = evaluation.flags();
  *provenance.mutable_tune() = evaluation.tune();
  provenance.set_confirmed_at_us(now_us);
  return provenance;
}

std::string OriginOf(const v1::KernelProvenance& provenance) {
  return provenance.search_id() + "/" + provenance.candidate_id();
}

}  // namespace warpsmith::bank
