// How prompts begin: what is the same for every call of a kind, and what is the same for every call of a search. Calls
// of the same search get the same texts, put together once and kept while they are in use.
// Threading: safe from any thread. Units: bytes.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_BEGINNINGS_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_BEGINNINGS_H_

#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/hash.h"
#include "llm_gateway/prompts/prompt_text.h"
#include "llm_gateway/prompts/prompt_variant.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

enum class PromptKind { kIdeas, kCode, kRepair };

struct PromptBeginning {
  PromptText system;
  PromptText problem;
  std::string version;  // "default/contract-2+repair_guide-1+problem-1"
  Sha256Stream digest;  // of both, with what parts them
};

class PromptBeginnings {
 public:
  // `variant` has always the same parts for the same name.
  PromptBeginning Find(const PromptVariant& variant, PromptKind kind, const v1::ProblemContext& context);
  size_t kept_bytes() const;

 private:
  using Key = std::string;
  struct Entry {
    PromptText problem;
    std::array<std::optional<PromptBeginning>, 3> kinds;
    size_t bytes = 0;
    std::list<Key>::iterator place;  // in order_
  };

  Entry& EntryOf(const PromptVariant& variant, const v1::ProblemContext& context);

  mutable std::mutex mutex_;
  std::unordered_map<Key, Entry> entries_;               // guarded by mutex_
  std::list<Key> order_;                                 // guarded by mutex_; what was used last comes first
  size_t bytes_ = 0;                                     // guarded by mutex_
  std::unordered_map<std::string, PromptText> systems_;  // guarded by mutex_; by variant and kind
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_BEGINNINGS_H_
