// The text of one message of a prompt: copies share it, since a call's layers all hold the same prompt and many calls
// begin with the same parts. What is needed of it again and again is worked out once: how many tokens it has, and, for
// a text that many calls use, how it stands in JSON.
// Threading: immutable; safe from any thread. Errors: none; what is not valid UTF-8 becomes U+FFFD in JSON.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_TEXT_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_TEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace warpsmith::gateway {

class PromptText {
 public:
  PromptText() = default;
  PromptText(std::string text);                                    // NOLINT: a text is what it is
  PromptText(const char* text) : PromptText(std::string(text)) {}  // NOLINT
  // Of many calls: its form in JSON is kept.
  static PromptText ForMany(std::string text);

  const std::string& str() const;
  operator const std::string&() const { return str(); }  // NOLINT
  bool empty() const { return str().empty(); }
  size_t size() const { return str().size(); }
  // Appends what stands between the quotes of a JSON string.
  void AppendJson(std::string& out) const;
  // What `measure`, always the same function, says of it; asked once.
  int64_t Measured(int64_t (*measure)(std::string_view)) const;

  friend bool operator==(const PromptText& a, const PromptText& b) { return a.str() == b.str(); }

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // null: empty
};

// Appends `text` as it stands between the quotes of a JSON string.
void AppendJsonText(std::string_view text, std::string& out);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_PROMPT_TEXT_H_
