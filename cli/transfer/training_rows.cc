#include "cli/transfer/training_rows.h"

#include <algorithm>

#include "cli/transfer/archive_row.h"
#include "cli/transfer/clean_text.h"
#include "common/hash.h"
#include "common/protocol_names.h"
#include "common/version.h"

namespace warpsmith::transfer {
namespace {

constexpr double kCorrectReward = 0.3;

bool HasFlag(const v1::Evaluation& evaluation, const char* flag) {
  return std::find(evaluation.flags().begin(), evaluation.flags().end(), flag) != evaluation.flags().end();
}

bool Correct(const v1::ExportedCandidate& candidate) {
  return candidate.candidate().evaluation().outcome() == v1::OUTCOME_OK;
}

// A verdict on the candidate itself, not on the machine that it ran on.
bool Wrong(const v1::ExportedCandidate& candidate) {
  switch (candidate.candidate().evaluation().outcome()) {
    case v1::OUTCOME_PLAN_ERROR:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_ILLEGAL_ACCESS:
    case v1::OUTCOME_LAUNCH_ERROR:
    case v1::OUTCOME_OUT_OF_BOUNDS:
    case v1::OUTCOME_INPUT_MODIFIED:
    case v1::OUTCOME_UNWRITTEN_OUTPUT:
    case v1::OUTCOME_NON_FINITE:
    case v1::OUTCOME_WRONG_OUTPUT:
      return true;
    default:
      return false;
  }
}

Json Assistant(const std::string& source) {
  return Json::array({{{"role", "assistant"}, {"content", TrainingAnswer(source)}}});
}

std::string PyTorchVersion(const v1::Problem& problem) {
  for (const v1::Baseline& baseline : problem.baselines()) {
    if (!baseline.pytorch_version().empty()) return baseline.pytorch_version();
  }
  return "";
}

}  // namespace

std::string TrainingRows::Excluded(const v1::ExportedCandidate& exported) const {
  const v1::Candidate& candidate = exported.candidate();
  const v1::Evaluation& evaluation = candidate.evaluation();
  if (evaluation.outcome() == v1::OUTCOME_SUSPICIOUS || HasFlag(evaluation, "suspicious")) return "suspicious";
  if (HasFlag(evaluation, "host_code")) return "host_code";
  if (evaluation.outcome() == v1::OUTCOME_INFRA_ERROR || evaluation.outcome() == v1::OUTCOME_UNSPECIFIED) {
    return "infra_error";
  }
  if (evaluation.outcome() == v1::OUTCOME_NEEDS_GPU) return "needs_gpu";
  if (evaluation.outcome() == v1::OUTCOME_OUT_OF_MEMORY) return "out_of_memory";
  if (candidate.source().empty()) return "without source";
  // What an operator brought in has no idea to be written from.
  if (rules_.format != RowFormat::kArchive && candidate.idea_id().empty()) return "without an idea";
  if (Correct(exported) && (evaluation.reason() == "screened" || HasFlag(evaluation, "screened"))) return "screened";
  if (LooksSecret(candidate.source()) || LooksSecret(exported.parent().source())) return "looks secret";
  return "";
}

Json TrainingRows::Meta(const v1::ExportedCandidate& exported) const {
  const v1::Candidate& candidate = exported.candidate();
  const v1::Evaluation& evaluation = candidate.evaluation();
  const v1::DeviceDescription& device = search_.device();
  return {{"problem", search_.problem().name()},
          {"problem_sha256", Sha256Hex(search_.problem().source())},
          {"level", search_.level()},
          {"number", search_.number()},
          {"operator_family", search_.problem().signature().operator_family()},
          {"search_id", search_.search_id()},
          {"candidate_id", candidate.id()},
          {"parent_id", candidate.parent_id()},
          {"repair_of", candidate.repair_of()},
          {"idea_id", candidate.idea_id()},
          {"idea", WithoutPaths(candidate.idea().title())},
          {"idea_category", candidate.idea().category()},
          {"round", candidate.round()},
          {"repair_attempt", candidate.repair_attempt()},
          {"provider", exported.call().provider()},
          {"model", exported.call().model().empty() ? candidate.model() : exported.call().model()},
          {"effort", exported.call().effort()},
          {"prompt_version", exported.call().prompt_version()},
          {"price_id", exported.call().price_id()},
          {"usd", exported.call().usd()},
          {"outcome", OutcomeName(evaluation.outcome())},
          {"flags", std::vector<std::string>(evaluation.flags().begin(), evaluation.flags().end())},
          {"precision_class", PrecisionClassName(evaluation.reached())},
          {"median_ms", evaluation.timing().median_ms()},
          {"ratio_to_eager", evaluation.ratio_to_eager()},
          {"ratio_to_best_baseline", evaluation.ratio_to_best_baseline()},
          {"gpu", device.name()},
          {"device_class", device.device_class()},
          {"compute_capability", device.compute_capability()},
          {"driver", device.driver()},
          {"cuda", device.cuda_version()},
          {"pytorch", PyTorchVersion(search_.problem())},
          {"emulated", search_.emulated()},
          {"harness_rev", evaluation.harness_rev()},
          {"judge_rev", evaluation.judge_rev()},
          {"warpsmith", kVersion}};
}

absl::Status TrainingRows::Emit(Json row) {
  row["split"] = split_;
  ++rows_;
  return sink_(row);
}

absl::Status TrainingRows::Take(const v1::ExportRow& row) {
  if (row.has_candidate()) return TakeCandidate(row.candidate());
  WARPSMITH_RETURN_IF_ERROR(EndIdea());
  search_ = row.search();
  best_child_.clear();
  split_ = SplitOf(rules_.split, search_.problem());
  search_excluded_.clear();
  if (HeldOut(rules_.split, search_.problem())) {
    search_excluded_ = "held out";
  } else if (search_.problem().signature().degenerate()) {
    search_excluded_ = "degenerate problem";
  } else if (LooksSecret(search_.problem().source())) {
    search_excluded_ = "looks secret";
  }
  return absl::OkStatus();
}

absl::Status TrainingRows::TakeCandidate(const v1::ExportedCandidate& candidate) {
  const std::string excluded = search_excluded_.empty() ? Excluded(candidate) : search_excluded_;
  if (!excluded.empty()) {
    ++left_out_[excluded];
    return absl::OkStatus();
  }
  switch (rules_.format) {
    case RowFormat::kSft:
      return AddSft(candidate);
    case RowFormat::kRl:
      return AddRl(candidate);
    case RowFormat::kArchive:
      return AddArchive(candidate);
    case RowFormat::kPreference:
      break;
  }
  if (!idea_.empty() && idea_.front().candidate().idea_id() != candidate.candidate().idea_id()) {
    WARPSMITH_RETURN_IF_ERROR(EndIdea());
  }
  // A repair has another prompt than what it repairs.
  if (candidate.has_repaired()) {
    ++left_out_["repair"];
  } else {
    idea_.push_back(candidate);
  }
  return absl::OkStatus();
}

absl::Status TrainingRows::AddSft(const v1::ExportedCandidate& candidate) {
  if (!Correct(candidate)) {
    ++left_out_["not correct"];
    return absl::OkStatus();
  }
  if (candidate.candidate().evaluation().ratio_to_eager() < rules_.min_ratio) {
    ++left_out_["slower than asked for"];
    return absl::OkStatus();
  }
  WARPSMITH_ASSIGN_OR_RETURN(TrainingPrompt prompt, prompts_.For(search_, candidate));
  Json messages = std::move(prompt.messages);
  messages.push_back(Assistant(candidate.candidate().source())[0]);
  Json meta = Meta(candidate);
  meta["row_prompt_version"] = prompt.version;
  return Emit({{"messages", std::move(messages)}, {"meta", std::move(meta)}});
}

absl::Status TrainingRows::AddPair(const v1::ExportedCandidate& chosen, const v1::ExportedCandidate& rejected) {
  WARPSMITH_ASSIGN_OR_RETURN(TrainingPrompt prompt, prompts_.For(search_, chosen));
  Json meta = Meta(chosen);
  meta["row_prompt_version"] = prompt.version;
  const bool both = Correct(rejected);
  meta["reason"] = both ? "faster" : "correct";
  meta["ratio"] = both ? rejected.candidate().evaluation().timing().median_ms() /
                             chosen.candidate().evaluation().timing().median_ms()
                       : 0.0;
  meta["rejected"] = Meta(rejected);
  return Emit({{"prompt", std::move(prompt.messages)},
               {"chosen", Assistant(chosen.candidate().source())},
               {"rejected", Assistant(rejected.candidate().source())},
               {"meta", std::move(meta)}});
}

absl::Status TrainingRows::EndIdea() {
  const std::vector<v1::ExportedCandidate> idea = std::move(idea_);
  idea_.clear();
  for (const v1::ExportedCandidate& chosen : idea) {
    const double time = chosen.candidate().evaluation().timing().median_ms();
    if (!Correct(chosen) || time <= 0) continue;
    for (const v1::ExportedCandidate& rejected : idea) {
      if (chosen.candidate().parent_id() != rejected.candidate().parent_id()) continue;
      const bool slower =
          Correct(rejected) && rejected.candidate().evaluation().timing().median_ms() >= rules_.pair_ratio * time;
      if (slower || Wrong(rejected)) WARPSMITH_RETURN_IF_ERROR(AddPair(chosen, rejected));
    }
  }
  return absl::OkStatus();
}

absl::Status TrainingRows::AddRl(const v1::ExportedCandidate& exported) {
  const v1::Candidate& candidate = exported.candidate();
  const bool correct = Correct(exported);
  const double speed = correct ? candidate.evaluation().ratio_to_eager() : 0;
  const double reward = (correct ? kCorrectReward : 0) + speed;
  const auto child = best_child_.find(candidate.id());
  const double total = reward + (child == best_child_.end() ? 0 : rules_.discount * child->second);
  for (const std::string& parent : {candidate.repair_of(), candidate.parent_id()}) {
    if (parent.empty()) continue;
    auto [at, added] = best_child_.emplace(parent, total);
    at->second = std::max(at->second, total);
    break;  // a repair's turn follows the one that it repairs
  }
  WARPSMITH_ASSIGN_OR_RETURN(TrainingPrompt prompt, prompts_.For(search_, exported));
  Json meta = Meta(exported);
  meta["row_prompt_version"] = prompt.version;
  meta["message"] = WithoutPaths(candidate.evaluation().message());
  return Emit({{"prompt", std::move(prompt.messages)},
               {"completion", Assistant(candidate.source())},
               {"reward", reward},
               {"reward_parts", {{"correct", correct ? kCorrectReward : 0.0}, {"ratio_to_eager", speed}}},
               {"return", total},
               {"discount", rules_.discount},
               {"turn_id", candidate.id()},
               {"parent_turn_id", candidate.repair_of().empty() ? candidate.parent_id() : candidate.repair_of()},
               {"meta", std::move(meta)}});
}

absl::Status TrainingRows::AddArchive(const v1::ExportedCandidate& candidate) {
  Json row = ArchiveRow(search_, candidate);
  row["meta"] = Meta(candidate);
  return Emit(std::move(row));
}

}  // namespace warpsmith::transfer
