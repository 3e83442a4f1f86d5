// All prompts of the gateway: loaded and checked once, rendered for each call. The system message is the same for every
// call, so that providers can cache it.
// Threading: immutable after Load. Errors: Load as PromptTemplate::Parse; rendering of a checked set cannot fail.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_SET_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_SET_H_

#include <filesystem>
#include <string>
#include <vector>

#include "llm_gateway/prompts/prompt_template.h"
#include "llm_gateway/providers/model_provider.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

struct RenderedPrompt {
  std::vector<PromptMessage> messages;
  std::string version;  // "contract-1+repair-1"
  std::string sha256;   // of all messages
};

class PromptSet {
 public:
  static absl::StatusOr<PromptSet> Load(const std::filesystem::path& folder);

  RenderedPrompt ProposeIdeas(const v1::ProposeIdeasRequest& request) const;
  RenderedPrompt ImplementIdea(const v1::ImplementIdeaRequest& request, int index) const;
  RenderedPrompt Repair(const v1::RepairRequest& request) const;

 private:
  RenderedPrompt Finish(const PromptTemplate& task, const std::map<std::string, std::string>& values) const;

  PromptTemplate contract_;
  PromptTemplate propose_ideas_;
  PromptTemplate implement_idea_;
  PromptTemplate repair_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_SET_H_
