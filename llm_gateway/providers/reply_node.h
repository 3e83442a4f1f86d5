// A value somewhere in the JSON that a server sent, read without trusting its shape: a member that is not there, or of
// another type than asked for, is a node that is not present, and what is asked of that one is empty.
// Threading: a node belongs to the thread that parsed it. Lifetime: until the next ParseReplyNode on that thread, its
// texts too. Source of the method: simdjson's DOM, which reads an event several times faster than it came to be
// written.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_REPLY_NODE_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_REPLY_NODE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"

namespace warpsmith::gateway {

class ReplyNode {
 public:
  ReplyNode() = default;

  bool present() const { return present_; }
  bool is_object() const;
  bool is_array() const;
  bool is_text() const;
  bool is_null() const;
  bool is_true() const;
  bool empty() const;  // no object, or one without members

  ReplyNode operator[](const char* key) const;  // a member of an object
  std::vector<ReplyNode> items() const;         // of an array
  std::string_view text() const;
  std::optional<double> number() const;
  std::string TextAt(const char* key) const;  // text, or an integer as text
  bool HasCountAt(const char* key) const;     // a number that may be a count
  int64_t CountAt(const char* key) const;     // 0 where there is none

  Json ToJson() const;  // null where it is not present

 private:
  friend ReplyNode ParseReplyNode(std::string_view text);
  template <typename Element>
  explicit ReplyNode(const Element& element);

  bool present_ = false;
  alignas(8) std::array<std::byte, 16> element_{};  // the library's, which stays out of headers
};

// Not present where it is no JSON or nested more than 64 levels deep.
ReplyNode ParseReplyNode(std::string_view text);
// Whether text can be handed on as it is: UTF-8 without NUL.
bool IsValidText(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_REPLY_NODE_H_
