// The prompt that a candidate of a search would be written from: the gateway's own text for the problem, the parent and
// the idea, without the history that a search had besides.
// Threading: safe from any thread after Load. Errors: what is missing or wrong in the prompts' folder.
#ifndef WARPSMITH_CLI_TRANSFER_TRAINING_PROMPT_H_
#define WARPSMITH_CLI_TRANSFER_TRAINING_PROMPT_H_

#include <string>

#include "common/json.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::transfer {

struct TrainingPrompt {
  Json messages;        // [{"role", "content"}]: system, then one of the user
  std::string version;  // of the prompt files
};

class TrainingPrompts {
 public:
  static absl::StatusOr<TrainingPrompts> LoadShipped();
  absl::StatusOr<TrainingPrompt> For(const v1::ExportedSearch& search, const v1::ExportedCandidate& candidate) const;

 private:
  explicit TrainingPrompts(gateway::PromptSet prompts) : prompts_(std::move(prompts)) {}
  gateway::PromptSet prompts_;
};

// What a model answers: the candidate file in a fenced block.
std::string TrainingAnswer(const std::string& source);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_TRAINING_PROMPT_H_
