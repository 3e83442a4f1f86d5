// What a model says beside its thinking: text outside <think>…</think> and the tags alike (with attributes, in square
// brackets, in channels), but for tags that are only named, in `backticks`.
// Threading: pure.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_OUTSIDE_THINKING_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_OUTSIDE_THINKING_H_

#include <string>
#include <string_view>

namespace warpsmith::gateway {

struct SpokenText {
  std::string text;
  bool thinking_never_ended = false;  // an opening tag without its closing one: nothing after it counts
};

// A closing tag without an opening one ends thinking that began before the text did (servers strip the first tag).
SpokenText OutsideThinking(std::string_view reply);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_OUTSIDE_THINKING_H_
