#include "llm_gateway/replies/lenient_json.h"

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxScanned = 16u << 20;  // characters looked at in all, so that "{{{{…" costs no more than that
constexpr size_t kMaxValues = 1000;

// The end of the bracket that opens at `start`, npos where it does not close. Strings and comments are skipped.
size_t FindEnd(std::string_view text, size_t start, size_t& scanned) {
  std::string closers;
  for (size_t i = start; i < text.size(); ++i) {
    if (++scanned > kMaxScanned) return text.npos;
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
        ++scanned;
      }
    } else if (c == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) {
      bool line = text[i + 1] == '/';
      size_t end = text.find(line ? "\n" : "*/", i + 2);
      if (end == text.npos) return text.npos;
      scanned += end - i;
      i = line ? end : end + 1;
    } else if (c == '{' || c == '[') {
      closers += c == '{' ? '}' : ']';
      if (closers.size() > kMaxDepth) return text.npos;
    } else if (c == '}' || c == ']') {
      if (closers.empty() || closers.back() != c) return text.npos;
      closers.pop_back();
      if (closers.empty()) return i + 1;
    }
  }
  return text.npos;
}

std::string Cleaned(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      out += c;
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
          out += text[i++];
          out += text[i];
        } else if (text[i] == '\n') {
          out += "\\n";
        } else if (static_cast<unsigned char>(text[i]) < 0x20) {
          out += ' ';
        } else {
          out += text[i];
        }
      }
      out += '"';
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      size_t end = text.find("*/", i + 2);
      if (end == text.npos) break;
      i = end + 1;
    } else if (c == '}' || c == ']') {
      while (!out.empty() && (out.back() == ' ' || out.back() == '\n' || out.back() == '\t' || out.back() == '\r'))
        out.pop_back();
      if (!out.empty() && out.back() == ',') out.pop_back();
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::optional<Json> ParseLenientJson(std::string_view text) {
  size_t start = text.find_first_of("{[");
  if (start != text.npos) {
    int depth = 0;
    for (char c : text) {
      if ((c == '{' || c == '[') && ++depth > 4 * kMaxDepth) return std::nullopt;
      if ((c == '}' || c == ']') && depth > 0) --depth;
    }
  }
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) value = Json::parse(Cleaned(text), nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

std::vector<Json> FindJsonValues(std::string_view text) {
  std::vector<Json> values;
  size_t scanned = 0;
  size_t at = 0;
  while (values.size() < kMaxValues && scanned <= kMaxScanned) {
    size_t start = text.find_first_of("{[", at);
    if (start == text.npos) break;
    size_t end = FindEnd(text, start, scanned);
    if (end != text.npos) {
      if (std::optional<Json> value = ParseLenientJson(text.substr(start, end - start))) {
        values.push_back(*std::move(value));
        at = end;
        continue;
      }
    }
    at = start + 1;
  }
  return values;
}

}  // namespace warpsmith::gateway
