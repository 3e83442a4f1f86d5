#include "llm_gateway/replies/outside_thinking.h"

#include <algorithm>
#include <array>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

struct ThinkingTag {
  std::string_view open;  // lower case; ends before what closes the tag, which may have attributes
  std::string_view close;
  std::string_view end;  // of both
};

constexpr std::array<ThinkingTag, 8> kTags = {{
    {"<think", "</think", ">"},
    {"<thinking", "</thinking", ">"},
    {"<reasoning", "</reasoning", ">"},
    {"<thought", "</thought", ">"},
    {"<scratchpad", "</scratchpad", ">"},
    {"<seed:think", "</seed:think", ">"},
    {"[think", "[/think", "]"},
    {"\u25C1think", "\u25C1/think", "\u25B7"},
}};
constexpr size_t kLongestAttributes = 200;

// A tag that begins at or after `from`: where, and one past its end. Named in backticks it is spoken of, not used.
struct Found {
  size_t begin = std::string::npos;
  size_t end = std::string::npos;
};

Found FindTag(const std::string& lower, std::string_view name, std::string_view end, size_t from) {
  for (size_t at = lower.find(name, from); at != lower.npos; at = lower.find(name, at + 1)) {
    size_t after = at + name.size();
    if (lower.compare(after, end.size(), end) != 0) {
      if (after >= lower.size() || lower[after] != ' ') continue;  // <thinker>
      size_t closes = std::string_view(lower).substr(after, kLongestAttributes).find(end);
      if (closes == std::string_view::npos) continue;
      after += closes;
    }
    after += end.size();
    if (at > 0 && lower[at - 1] == '`' && after < lower.size() && lower[after] == '`') continue;
    return {at, after};
  }
  return {};
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool BeginsWith(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(),
                                                   [](char wanted, char found) { return wanted == Lower(found); });
}

// Whether some tag's name stands in the text: hardly any text has one.
bool NamesAnyTag(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '<' && text[at] != '[' && text[at] != kTags.back().open[0]) continue;
    if (at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '=')) continue;  // a comparison
    const std::string_view rest = text.substr(at);
    for (const ThinkingTag& tag : kTags) {
      if (BeginsWith(rest, tag.open) || BeginsWith(rest, tag.close)) return true;
    }
  }
  return false;
}

// `lower` is the text in lower case.
SpokenText WithoutTag(const std::string& text, const std::string& lower, const ThinkingTag& tag) {
  SpokenText spoken;
  size_t at = 0;
  int depth = 0;
  Found open = FindTag(lower, tag.open, tag.end, 0), close = FindTag(lower, tag.close, tag.end, 0);
  while (at < text.size()) {
    if (open.begin != lower.npos && open.begin < at) open = FindTag(lower, tag.open, tag.end, at);
    if (close.begin != lower.npos && close.begin < at) close = FindTag(lower, tag.close, tag.end, at);
    const Found& next = open.begin < close.begin ? open : close;
    if (depth == 0) spoken.text.append(text, at, next.begin == lower.npos ? std::string::npos : next.begin - at);
    if (next.begin == lower.npos) break;
    at = next.end;
    if (&next == &open) {
      ++depth;
    } else if (depth == 0) {
      spoken.text.clear();
    } else {
      --depth;
    }
  }
  spoken.thinking_never_ended = depth > 0;
  return spoken;
}

// Channels, as some servers pass them on unread: only the final one is spoken.
SpokenText FinalChannel(std::string text) {
  constexpr std::string_view kChannel = "<|channel|>", kFinal = "<|channel|>final<|message|>";
  if (text.find(kChannel) == text.npos) return {std::move(text), false};
  size_t last = text.rfind(kFinal);
  if (last == text.npos) return {"", true};
  text.erase(0, last + kFinal.size());
  text.resize(std::min({text.find("<|return|>"), text.find("<|end|>"), text.find(kChannel), text.size()}));
  return {std::move(text), false};
}

}  // namespace

SpokenText OutsideThinking(std::string_view reply) {
  SpokenText spoken = FinalChannel(std::string(reply));
  if (!NamesAnyTag(spoken.text)) return spoken;
  std::string lower = AsciiLower(spoken.text);
  for (const ThinkingTag& tag : kTags) {
    if (lower.find(tag.open) == lower.npos && lower.find(tag.close) == lower.npos) continue;
    SpokenText next = WithoutTag(spoken.text, lower, tag);
    next.thinking_never_ended |= spoken.thinking_never_ended;
    spoken = std::move(next);
    lower = AsciiLower(spoken.text);
  }
  return spoken;
}

}  // namespace warpsmith::gateway
