#include "cli/transfer/training_prompt.h"

#include "cli/transfer/clean_text.h"
#include "common/file.h"
#include "llm_gateway/prompts/fenced.h"

namespace warpsmith::transfer {
namespace {

void TellKernel(const v1::ExportedParent& from, v1::ParentKernel* parent) {
  parent->set_candidate_id(from.candidate_id());
  parent->set_source(from.source());
  *parent->mutable_evaluation() = from.evaluation();
  parent->set_idea_title(from.idea_title());
}

}  // namespace

absl::StatusOr<TrainingPrompts> TrainingPrompts::LoadShipped() {
  WARPSMITH_ASSIGN_OR_RETURN(const auto folder, FindShare("llm_gateway/prompts"));
  WARPSMITH_ASSIGN_OR_RETURN(gateway::PromptSet prompts, gateway::PromptSet::Load(folder));
  return TrainingPrompts(std::move(prompts));
}

absl::StatusOr<TrainingPrompt> TrainingPrompts::For(const v1::ExportedSearch& search,
                                                    const v1::ExportedCandidate& candidate) const {
  v1::ProblemContext context;
  *context.mutable_problem() = search.problem();
  *context.mutable_device() = search.device();
  *context.mutable_accepted() = search.accepted();
  context.set_frozen_weights(search.frozen_weights());
  absl::StatusOr<gateway::RenderedPrompt> rendered;
  if (candidate.has_repaired()) {
    v1::RepairRequest request;
    *request.mutable_context() = context;
    TellKernel(candidate.repaired(), request.mutable_failed());
    *request.mutable_idea() = candidate.candidate().idea();
    request.set_attempt(candidate.candidate().repair_attempt());
    rendered = prompts_.Repair(request);
  } else {
    v1::ImplementIdeaRequest request;
    *request.mutable_context() = context;
    if (candidate.has_parent()) TellKernel(candidate.parent(), request.mutable_parent());
    *request.mutable_idea() = candidate.candidate().idea();
    // One alone: all implementations of an idea have the same prompt, so that they can be compared.
    request.set_count(1);
    request.add_indexes(0);
    rendered = prompts_.ImplementIdea(request, 0);
  }
  if (!rendered.ok()) return rendered.status();
  TrainingPrompt prompt;
  prompt.version = rendered->version;
  std::string system, user;
  for (const gateway::PromptMessage& message : rendered->messages) {
    std::string& into = message.role == "system" ? system : user;
    into += (into.empty() ? "" : "\n\n") + message.text.str();
  }
  prompt.messages = Json::array(
      {{{"role", "system"}, {"content", WithoutPaths(system)}}, {{"role", "user"}, {"content", WithoutPaths(user)}}});
  return prompt;
}

std::string TrainingAnswer(const std::string& source) { return gateway::Fenced("cuda", WithoutPaths(source)); }

}  // namespace warpsmith::transfer
