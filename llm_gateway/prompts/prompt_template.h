// A prompt as a text file: "version: NAME-N" in the first line, then text with {{slots}}. Values are put in as they are
// and never searched for slots, so that a problem's source cannot reach into the prompt.
// Threading: immutable after Parse. Errors: InvalidArgument with file:line.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_TEMPLATE_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_TEMPLATE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith::gateway {

class PromptTemplate {
 public:
  // The file must use every slot of `slots`, and no other.
  static absl::StatusOr<PromptTemplate> Parse(const std::string& text, const std::string& file,
                                              const std::set<std::string>& slots);

  const std::string& version() const { return version_; }
  // `values` has a value for each slot. InvalidArgument otherwise.
  absl::StatusOr<std::string> Render(const std::map<std::string, std::string>& values) const;

 private:
  std::string version_;
  std::vector<std::string> literals_;  // one more than slots_
  std::vector<std::string> slots_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_TEMPLATE_H_
