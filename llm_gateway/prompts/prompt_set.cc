#include "llm_gateway/prompts/prompt_set.h"

#include "common/file.h"
#include "common/hash.h"
#include "llm_gateway/prompts/describe.h"
#include "llm_gateway/prompts/device_facts.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

absl::StatusOr<PromptTemplate> LoadOne(const std::filesystem::path& folder, const char* name,
                                       const std::set<std::string>& slots) {
  std::filesystem::path path = folder / (std::string(name) + ".txt");
  WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadFile(path, 1u << 20));
  return PromptTemplate::Parse(text, path.string(), slots);
}

std::map<std::string, std::string> ContextValues(const v1::ProblemContext& context) {
  return {{"device", DescribeDevice(context.device())},
          {"problem", DescribeProblem(context.problem(), context.frozen_weights())},
          {"precision", DescribePrecision(context)},
          {"notes", DescribeNotes(context.operator_notes())}};
}

}  // namespace

absl::StatusOr<PromptSet> PromptSet::Load(const std::filesystem::path& folder) {
  PromptSet set;
  WARPSMITH_ASSIGN_OR_RETURN(set.contract_, LoadOne(folder, "contract", {}));
  WARPSMITH_ASSIGN_OR_RETURN(set.propose_ideas_, LoadOne(folder, "propose_ideas",
                                                         {"device", "problem", "precision", "notes", "parent", "tried",
                                                          "category_counts", "count"}));
  WARPSMITH_ASSIGN_OR_RETURN(set.implement_idea_, LoadOne(folder, "implement_idea",
                                                          {"device", "problem", "precision", "notes", "parent", "idea",
                                                           "index", "count", "earlier_turns"}));
  WARPSMITH_ASSIGN_OR_RETURN(
      set.repair_,
      LoadOne(folder, "repair", {"device", "problem", "precision", "notes", "failed", "idea", "failure", "attempt"}));
  return set;
}

RenderedPrompt PromptSet::ProposeIdeas(const v1::ProposeIdeasRequest& request) const {
  auto values = ContextValues(request.context());
  values["parent"] = DescribeParent(request.context(), request.parent(), request.has_parent());
  values["tried"] = DescribeTried(request.tried());
  values["category_counts"] = CountCategories(request.tried());
  values["count"] = std::to_string(request.count());
  return Finish(propose_ideas_, values);
}

RenderedPrompt PromptSet::ImplementIdea(const v1::ImplementIdeaRequest& request, int index) const {
  auto values = ContextValues(request.context());
  values["parent"] = DescribeParent(request.context(), request.parent(), request.has_parent());
  values["idea"] = DescribeIdea(request.idea());
  values["index"] = std::to_string(index + 1);
  values["count"] = std::to_string(std::max(request.count(), index + 1));
  values["earlier_turns"] = DescribeEarlierTurns(request.earlier_turns());
  return Finish(implement_idea_, values);
}

RenderedPrompt PromptSet::Repair(const v1::RepairRequest& request) const {
  auto values = ContextValues(request.context());
  values["failed"] = Fenced("cuda", Bounded(request.failed().source(), 200u << 10));
  values["failure"] = DescribeFailure(request.failed().evaluation());
  values["idea"] = DescribeIdea(request.idea());
  values["attempt"] = std::to_string(std::max(1, request.attempt()));
  return Finish(repair_, values);
}

RenderedPrompt PromptSet::Finish(const PromptTemplate& task, const std::map<std::string, std::string>& values) const {
  RenderedPrompt prompt;
  // Parse has checked that every slot is one of those filled above.
  prompt.messages = {{"system", ValidText(contract_.Render({}).value())},
                     {"user", ValidText(task.Render(values).value())}};
  prompt.version = contract_.version() + "+" + task.version();
  prompt.sha256 = Sha256Hex(prompt.messages[0].text + '\0' + prompt.messages[1].text);
  return prompt;
}

}  // namespace warpsmith::gateway
