#include "llm_gateway/replies/outside_thinking.h"

#include <array>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr std::array<std::string_view, 4> kTags = {"think", "thinking", "reasoning", "thought"};

SpokenText WithoutTag(const std::string& text, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">", close = "</" + std::string(tag) + ">";
  const std::string lower = AsciiLower(text);
  SpokenText spoken;
  size_t at = 0;
  int depth = 0;
  while (at < text.size()) {
    size_t next_open = lower.find(open, at), next_close = lower.find(close, at);
    size_t next = std::min(next_open, next_close);
    if (depth == 0) spoken.text.append(text, at, next == lower.npos ? std::string::npos : next - at);
    if (next == lower.npos) break;
    if (next == next_open) {
      ++depth;
      at = next + open.size();
    } else {
      if (depth == 0) {
        spoken.text.clear();
      } else {
        --depth;
      }
      at = next + close.size();
    }
  }
  spoken.thinking_never_ended = depth > 0;
  return spoken;
}

}  // namespace

SpokenText OutsideThinking(std::string_view reply) {
  SpokenText spoken{std::string(reply), false};
  for (std::string_view tag : kTags) {
    SpokenText next = WithoutTag(spoken.text, tag);
    next.thinking_never_ended |= spoken.thinking_never_ended;
    spoken = std::move(next);
  }
  return spoken;
}

}  // namespace warpsmith::gateway
