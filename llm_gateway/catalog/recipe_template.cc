#include "llm_gateway/catalog/recipe_template.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::gateway {

absl::StatusOr<RecipeTemplate> RecipeTemplate::Parse(const std::string& text, const std::string& file,
                                                     const std::function<bool(const std::string&)>& known) {
  RecipeTemplate parsed;
  parsed.file_ = file;
  std::vector<std::string> open;
  size_t at = 0;
  while (at < text.size()) {
    size_t start = text.find("@{", at);
    parsed.parts_.push_back({Kind::kText, text.substr(at, start == text.npos ? start : start - at), 0});
    if (start == text.npos) break;
    int line = static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(start), '\n')) + 1;
    auto fail = [&](const std::string& what) { return InvalidArgument(fmt::format("{}:{}: {}", file, line, what)); };
    size_t end = text.find('}', start);
    if (end == text.npos) return fail("\"@{\" without \"}\"");
    std::string name = text.substr(start + 2, end - start - 2);
    Kind kind = Kind::kSlot;
    if (!name.empty() && std::string_view("?!/").find(name[0]) != std::string_view::npos) {
      kind = name[0] == '?' ? Kind::kIfBound : name[0] == '!' ? Kind::kIfUnbound : Kind::kEnd;
      name.erase(0, 1);
    }
    if (!known(name))
      return fail(fmt::format("the slot @{{{}}} is no setting, variable, extract or bound tensor of the recipe", name));
    if (kind == Kind::kIfBound || kind == Kind::kIfUnbound) open.push_back(name);
    if (kind == Kind::kEnd) {
      if (open.empty() || open.back() != name) return fail(fmt::format("@{{/{}}} ends nothing that is open", name));
      open.pop_back();
    }
    parsed.parts_.push_back({kind, name, line});
    at = end + 1;
  }
  if (!open.empty()) return InvalidArgument(fmt::format("{}: @{{?{}}} is never ended", file, open.back()));
  return parsed;
}

absl::StatusOr<std::string> RecipeTemplate::Expand(const RecipeValues& values) const {
  std::string out;
  std::vector<bool> shown;
  for (const Part& part : parts_) {
    bool bound = part.kind != Kind::kText && values.count(part.text) != 0;
    if (part.kind == Kind::kIfBound || part.kind == Kind::kIfUnbound) {
      shown.push_back(bound == (part.kind == Kind::kIfBound));
    } else if (part.kind == Kind::kEnd) {
      shown.pop_back();
    } else if (std::find(shown.begin(), shown.end(), false) != shown.end()) {
      continue;
    } else if (part.kind == Kind::kText) {
      out += part.text;
    } else if (!bound) {
      return InvalidArgument(fmt::format("{}:{}: @{{{}}} has no value for this problem", file_, part.line, part.text));
    } else {
      out += ToText(values.at(part.text));
    }
  }
  return out;
}

}  // namespace warpsmith::gateway
