// One way of asking: the prompt files of one folder. Every variant has the same files and the same slots, so that none
// can leave out what a model is to be told.
// Threading: immutable after Load. Errors: InvalidArgument with file:line.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_VARIANT_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_VARIANT_H_

#include <filesystem>
#include <string>

#include "llm_gateway/prompts/prompt_template.h"

namespace warpsmith::gateway {

struct PromptVariant {
  std::string name;  // its folder's
  // Without slots: the same for every call.
  PromptTemplate contract;      // the candidate file, how it is judged, what is banned, an example
  PromptTemplate ideas_guide;   // how ideas are to be proposed
  PromptTemplate code_guide;    // how candidates are to be written
  PromptTemplate repair_guide;  // how they are to be repaired
  PromptTemplate problem;       // the same for every call of a search
  PromptTemplate propose_ideas;
  PromptTemplate propose_again;  // added to propose_ideas
  PromptTemplate implement_idea;
  PromptTemplate repair;

  static absl::StatusOr<PromptVariant> Load(const std::filesystem::path& folder, const std::string& name);
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_VARIANT_H_
