// All prompts of the gateway: loaded and checked once, rendered for each call. A prompt has three messages: what is the
// same for every call of its kind (system), what is the same for every call of a search (the device and the problem),
// and the call's own. The first two are marked for providers' caches and are the same to the byte from call to call.
// Threading: after Load safe from any thread. Errors: Load as PromptTemplate::Parse; rendering fails only for a variant
// that was not loaded (InvalidArgument, naming those that were).
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_SET_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_SET_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "llm_gateway/novelty/too_close.h"
#include "llm_gateway/prompts/prompt_beginnings.h"
#include "llm_gateway/prompts/prompt_variant.h"
#include "llm_gateway/providers/model_provider.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

struct RenderedPrompt {
  std::vector<PromptMessage> messages;
  std::string variant;
  std::string version;      // the variant and each file's: "default/contract-2+repair_guide-1+problem-1+repair-2"
  std::string sha256;       // of all messages
  std::string schema_name;  // ideas only
  Json schema;              // null: free text
};

class PromptSet {
 public:
  // A folder a variant in `folder`. Empty: "default" alone.
  static absl::StatusOr<PromptSet> Load(const std::filesystem::path& folder,
                                        const std::vector<std::string>& variants = {});

  const std::vector<std::string>& variants() const { return names_; }
  // Empty means "default" where that was loaded, otherwise the first that was; so it is always there.
  bool Has(const std::string& variant) const { return Find(variant) != nullptr; }
  // OK, or InvalidArgument that names the variants there are.
  absl::Status CheckVariant(const std::string& variant) const;

  absl::StatusOr<RenderedPrompt> ProposeIdeas(const v1::ProposeIdeasRequest& request) const;
  // The same question with what became of its answer, asking for as many more as are missing. Its first two messages
  // and the beginning of the third are those of ProposeIdeas.
  absl::StatusOr<RenderedPrompt> ProposeIdeasAgain(const v1::ProposeIdeasRequest& request,
                                                   const std::vector<v1::Idea>& kept,
                                                   const std::vector<SimilarPair>& too_close) const;
  absl::StatusOr<RenderedPrompt> ImplementIdea(const v1::ImplementIdeaRequest& request, int index) const;
  absl::StatusOr<RenderedPrompt> Repair(const v1::RepairRequest& request) const;

 private:
  const PromptVariant* Find(const std::string& name) const;

  std::vector<std::string> names_;
  std::vector<PromptVariant> variants_;  // as names_
  std::unique_ptr<PromptBeginnings> beginnings_ = std::make_unique<PromptBeginnings>();
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_SET_H_
