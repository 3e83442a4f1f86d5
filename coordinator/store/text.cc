#include "coordinator/store/text.h"

#include <cctype>

#include "common/hash.h"

namespace warpsmith::store {
namespace {

// Length of the well-formed UTF-8 sequence at `at`, or 0.
size_t SequenceLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
      (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string CleanText(std::string_view text, size_t max_bytes) {
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const size_t length = SequenceLength(text, at);
    if (length == 0 || text[at] == '\0') {
      ++at;
      continue;
    }
    if (clean.size() + length > max_bytes) break;
    clean.append(text.substr(at, length));
    at += length;
  }
  return clean;
}

std::string CleanLine(std::string_view text, size_t max_bytes) {
  std::string clean = CleanText(text, max_bytes);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return clean;
}

std::string NewId() {
  static constexpr char kAlphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
  const std::string hex = RandomHex(26);
  std::string id;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int value = std::stoi(hex.substr(i, 2), nullptr, 16);
    id += kAlphabet[value & 31];
  }
  return id;
}

std::string NormalizeSource(std::string_view source) {
  std::string out;
  bool pending_space = false;
  bool line_start = true;
  bool first_comment = true;
  const auto emit = [&](std::string_view token) {
    if (pending_space && !out.empty() && IsWord(out.back()) && IsWord(token.front())) out += ' ';
    pending_space = false;
    out.append(token);
  };
  for (size_t at = 0; at < source.size();) {
    const char c = source[at];
    if (c == '\n') {
      line_start = true;
      pending_space = true;
      ++at;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      pending_space = true;
      ++at;
    } else if (source.substr(at, 2) == "//") {
      // A backslash at the line's end carries the comment on.
      while (at < source.size() && !(source[at] == '\n' && source[at - 1] != '\\')) ++at;
      pending_space = true;
    } else if (source.substr(at, 2) == "/*") {
      size_t end = source.find("*/", at + 2);
      end = end == std::string_view::npos ? source.size() : end + 2;
      if (first_comment) emit(source.substr(at, end - at));
      first_comment = false;
      pending_space = true;
      at = end;
    } else if (c == '#' && line_start) {
      size_t end = at;
      while (end < source.size() && !(source[end] == '\n' && source[end - 1] != '\\')) ++end;
      out += '\n';
      out.append(source.substr(at, end - at));
      out += '\n';
      at = end;
    } else if (c == '"' || c == '\'') {
      size_t end = at + 1;
      while (end < source.size() && source[end] != c && source[end] != '\n') end += source[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, source.size());
      // Quotes may be digit separators or raw strings, where layout counts: keep everything from here on.
      if (c == '\'' || (at > 0 && source[at - 1] == 'R')) {
        emit(source.substr(at));
        return out;
      }
      emit(source.substr(at, end - at));
      line_start = false;
      at = end;
    } else {
      size_t end = at + 1;
      if (IsWord(c)) {
        while (end < source.size() && IsWord(source[end])) ++end;
        emit(source.substr(at, end - at));
      } else {
        // Two operators that a space parts must not become one: "a + +b" is not "a ++b".
        if (pending_space && !out.empty() && !IsWord(out.back()) &&
            std::ispunct(static_cast<unsigned char>(out.back())) != 0 && out.back() != ';' && out.back() != '{' &&
            out.back() != '}' && out.back() != ')' && out.back() != '(' && out.back() != ',') {
          out += ' ';
        }
        pending_space = false;
        out += c;
      }
      line_start = false;
      at = end;
    }
  }
  return out;
}

}  // namespace warpsmith::store
