#include "llm_gateway/prompts/prompt_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr std::string_view kVersionField = "version: ";

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

absl::StatusOr<PromptTemplate> PromptTemplate::Parse(const std::string& text, const std::string& file,
                                                     const std::set<std::string>& slots) {
  PromptTemplate parsed;
  size_t line_end = text.find('\n');
  std::string_view first = TrimSpace(std::string_view(text).substr(0, line_end));
  if (line_end == text.npos || first.rfind(kVersionField, 0) != 0 || first.size() == kVersionField.size()) {
    return InvalidArgument(file + ":1: the first line must be \"version: NAME-NUMBER\"");
  }
  parsed.version_ = std::string(first.substr(kVersionField.size()));
  std::string_view rest = std::string_view(text).substr(line_end + 1);
  auto line_of = [&](std::string_view at) { return std::count(text.data(), at.data(), '\n') + 1; };
  std::set<std::string> used;
  for (;;) {
    size_t open = rest.find("{{");
    if (open == rest.npos) break;
    size_t close = rest.find("}}", open);
    std::string_view at = rest.substr(open);
    if (close == rest.npos) return InvalidArgument(fmt::format("{}:{}: \"{{{{\" without \"}}}}\"", file, line_of(at)));
    std::string name(TrimSpace(rest.substr(open + 2, close - open - 2)));
    if (slots.count(name) == 0) {
      return InvalidArgument(
          fmt::format("{}:{}: there is no slot \"{}\" here; known: {}", file, line_of(at), name, Joined(slots)));
    }
    used.insert(name);
    parsed.literals_.emplace_back(rest.substr(0, open));
    parsed.slots_.push_back(name);
    rest.remove_prefix(close + 2);
  }
  parsed.literals_.emplace_back(rest);
  for (const std::string& slot : slots) {
    if (used.count(slot) == 0) {
      return InvalidArgument(
          fmt::format("{}: the slot {{{{{}}}}} is missing; the model would not be told of it", file, slot));
    }
  }
  return parsed;
}

absl::StatusOr<std::string> PromptTemplate::Render(const std::map<std::string, std::string>& values) const {
  std::string out = literals_[0];
  for (size_t i = 0; i < slots_.size(); ++i) {
    auto value = values.find(slots_[i]);
    if (value == values.end())
      return InvalidArgument(fmt::format("prompt {}: no value for slot {}", version_, slots_[i]));
    out += value->second;
    out += literals_[i + 1];
  }
  return out;
}

}  // namespace warpsmith::gateway
