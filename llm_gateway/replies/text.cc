#include "llm_gateway/replies/text.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <cstring>

namespace warpsmith::gateway {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

// Length of the well-formed sequence at `at`, 0 where there is none (overlong forms and surrogates included).
size_t SequenceLength(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto continues = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  unsigned first = byte(at), second = byte(at + 1);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(at + 1) || !continues(at + 2)) return 0;
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(at + 1) || !continues(at + 2) || !continues(at + 3)) return 0;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

// Eight bytes at a time: a byte has its high bit set, or loses it to a borrow where it is NUL.
size_t PlainPrefix(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080u, kOnes = 0x0101010101010101u;
  size_t at = 0;
  for (uint64_t word; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if (((word | (word - kOnes)) & kHigh) != 0) break;
  }
  while (at < text.size() && static_cast<signed char>(text[at]) > 0) ++at;
  return at;
}

std::string ValidText(std::string_view text) {
  if (PlainPrefix(text) == text.size()) return std::string(text);
  std::string out;
  out.reserve(text.size());
  size_t valid = 0;  // from here to `at` everything is
  for (size_t at = 0; at < text.size();) {
    if (const size_t plain = PlainPrefix(text.substr(at)); plain > 0) {
      at += plain;
      continue;
    }
    size_t length = SequenceLength(text, at);
    if (length == 0) {
      out.append(text, valid, at - valid);
      out += "\xEF\xBF\xBD";
      valid = ++at;
    } else {
      at += length;
    }
  }
  out.append(text, valid);
  return out;
}

std::string Bounded(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t room = max_bytes > 40 ? max_bytes - 40 : max_bytes;
  while (room > 0 && (static_cast<unsigned char>(text[room]) & 0xC0u) == 0x80u) --room;
  std::string out(text.substr(0, room));
  if (max_bytes > 40) out += fmt::format("\xE2\x80\xA6 [{} bytes cut]", text.size() - room);
  return out;
}

std::string OneLine(std::string_view text, size_t max_bytes) {
  std::string out;
  for (char c : text) {
    bool blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return Bounded(out, max_bytes);
}

std::string_view TrimSpace(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string AsciiLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace warpsmith::gateway
