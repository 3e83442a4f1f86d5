#include "llm_gateway/replies/ideas_prose.h"

#include <algorithm>
#include <cctype>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMostIdeas = 200;
constexpr size_t kMostSteps = 50;

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view NextWord(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsWordChar(text[end])) ++end;
  return text.substr(at, end - at);
}

// Whether a quote at `at` ends a string: what follows is a delimiter.
bool EndsString(std::string_view text, size_t at) {
  size_t next = text.find_first_not_of(" \t\r\n", at + 1);
  return next == text.npos || std::string_view(",:]}").find(text[next]) != std::string_view::npos;
}

// The content of the single-quoted string that begins at `at`, as a JSON string; `at` moves behind it.
std::string QuotedString(std::string_view text, size_t& at) {
  std::string out = "\"";
  size_t i = at + 1;
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\'') out += c;
      out += text[++i];
    } else if (c == '\'' && EndsString(text, i)) {
      break;
    } else {
      if (c == '"') out += '\\';
      out += c;
    }
  }
  at = std::min(text.size(), i + 1);
  return out + "\"";
}

// A line without Markdown's marks and a leading number: "2. **Title**: x" is "Title: x".
std::string Bare(std::string_view line, bool& item) {
  line = TrimSpace(line);
  item = false;
  while (!line.empty() && (line[0] == '#' || line[0] == '>')) line = TrimSpace(line.substr(1));
  if (line.size() > 1 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ') {
    line = TrimSpace(line.substr(2));
    item = true;
  }
  size_t digits = 0;
  while (digits < line.size() && digits < 3 && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) ++digits;
  if (digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')')) {
    line = TrimSpace(line.substr(digits + 1));
    item = true;
  }
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '*' && i + 1 < line.size() && line[i + 1] == '*') {
      ++i;
    } else {
      out += line[i];
    }
  }
  return out;
}

constexpr const char* kFields[] = {"title",
                                   "category",
                                   "bottleneck",
                                   "evidence",
                                   "hypothesis",
                                   "rationale",
                                   "plan",
                                   "steps",
                                   "risk",
                                   "expected speedup",
                                   "expected_speedup",
                                   "speedup",
                                   "changes precision",
                                   "changes_precision"};

// The field that a line names, and what follows the colon.
std::string FieldOf(const std::string& line, std::string& value) {
  size_t colon = line.find(':');
  if (colon == line.npos || colon > 40) return "";
  std::string name = AsciiLower(TrimSpace(std::string_view(line).substr(0, colon)));
  // "Idea 1: x" and "Optimization 2: x" are titles.
  for (const char* word : {"idea", "optimization", "optimisation", "proposal"}) {
    if (name.rfind(word, 0) == 0 &&
        name.find_first_not_of(" #0123456789", std::string_view(word).size()) == name.npos) {
      name = "title";
    }
  }
  if (std::find(std::begin(kFields), std::end(kFields), name) == std::end(kFields)) return "";
  value = std::string(TrimSpace(std::string_view(line).substr(colon + 1)));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

std::string PythonToJson(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  int depth = 0;
  char before = 0;  // the last character that is no white space
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (depth > 0 && c == '"') {
      const size_t start = i++;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      i = std::min(text.size(), i + 1);
      out.append(text.substr(start, i - start));
      before = '"';
      continue;
    }
    if (depth > 0 && c == '\'' && (before == '{' || before == '[' || before == ',' || before == ':')) {
      out += QuotedString(text, i);
      before = '"';
      continue;
    }
    if (depth > 0 && IsWordChar(c)) {
      std::string_view word = NextWord(text, i);
      i += word.size();
      out += word == "True" ? "true" : word == "False" ? "false" : word == "None" ? "null" : word;
      before = 'w';
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (std::isspace(static_cast<unsigned char>(c)) == 0) before = c;
    out += c;
    ++i;
  }
  return out;
}

std::vector<Json> FindKeyedIdeas(std::string_view text) {
  std::vector<Json> ideas;
  Json idea = Json::object();
  std::string last;  // the field that further lines belong to
  auto end_idea = [&] {
    if (idea.contains("title") && idea.size() > 1) ideas.push_back(std::move(idea));
    idea = Json::object();
    last.clear();
  };
  for (std::string_view raw : SplitLines(text)) {
    if (ideas.size() >= kMostIdeas) break;
    bool item = false;
    const std::string line = ValidText(Bare(raw, item));
    std::string value;
    const std::string field = FieldOf(line, value);
    if (!field.empty()) {
      if (field == "title") end_idea();
      last = field == "steps" ? "plan" : field;
      if (last == "plan") {
        if (!idea.contains("plan")) idea["plan"] = Json::array();
        if (!value.empty()) idea["plan"].push_back(value);
      } else if (!idea.contains(last)) {
        idea[last] = value;
      }
    } else if (item && last == "plan" && !line.empty()) {
      if (idea["plan"].size() < kMostSteps) idea["plan"].push_back(line);
    } else if (line.empty() && last != "plan") {
      last.clear();
    }
  }
  end_idea();
  return ideas;
}

}  // namespace warpsmith::gateway
