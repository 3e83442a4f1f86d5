#include "cli/report/html.h"

#include <fmt/format.h>

#include <cstdint>

namespace warpsmith::cli::report {
namespace {

constexpr uint32_t kBroken = 0xFFFD;

// The code point at `at`, which moves behind it; kBroken where the bytes are none.
uint32_t NextCodePoint(std::string_view text, size_t* at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte((*at)++);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 && first < 0xF5   ? 3
                   : first >= 0xE0 && first < 0xF0 ? 2
                   : first >= 0xC2 && first < 0xE0 ? 1
                                                   : 0;
  if (more == 0) return kBroken;
  uint32_t code = first & (0x3Fu >> more);
  const size_t begin = *at;
  for (int i = 0; i < more; ++i) {
    if (*at >= text.size() || (byte(*at) & 0xC0) != 0x80) {
      *at = begin;  // what follows is looked at anew
      return kBroken;
    }
    code = code << 6 | (byte((*at)++) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    *at = begin;
    return kBroken;
  }
  return code;
}

// What would hide, or make text read otherwise than it is.
bool Deceives(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || (code >= 0xFE00 && code <= 0xFE0F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE0FFF);
}

void AppendEscaped(std::string_view text, bool block, std::string* out) {
  out->reserve(out->size() + text.size() + text.size() / 8);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const uint32_t code = NextCodePoint(text, &at);
    switch (code) {
      case '&':
        *out += "&amp;";
        break;
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      case '"':
        *out += "&quot;";
        break;
      case '\'':
        *out += "&#39;";
        break;
      case '\r':
        if (at < text.size() && text[at] == '\n') break;
        [[fallthrough]];
      case '\n':
        *out += block ? '\n' : ' ';
        break;
      case '\t':
        *out += block ? '\t' : ' ';
        break;
      case kBroken:
        *out += "\uFFFD";
        break;
      default:
        if (Deceives(code)) {
          *out += fmt::format("[U+{:04X}]", code);
        } else {
          out->append(text.substr(begin, at - begin));
        }
    }
  }
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  AppendEscaped(text, false, &out);
  return out;
}

std::string EscapeBlock(std::string_view text) {
  std::string out;
  AppendEscaped(text, true, &out);
  return out;
}

std::string Cut(std::string_view text, size_t characters) {
  size_t at = 0;
  for (size_t i = 0; i < characters && at < text.size(); ++i) NextCodePoint(text, &at);
  return at == text.size() ? std::string(text) : std::string(text.substr(0, at)) + "…";
}

Html& Html::Raw(std::string_view markup) {
  text_ += markup;
  return *this;
}

Html& Html::Text(std::string_view text) {
  AppendEscaped(text, false, &text_);
  return *this;
}

Html& Html::Block(std::string_view text) {
  AppendEscaped(text, true, &text_);
  return *this;
}

Html& Html::Open(std::string_view tag, Attributes attributes) {
  text_ += '<';
  text_ += tag;
  for (const auto& [name, value] : attributes) {
    if (value.empty()) continue;
    text_ += ' ';
    text_ += name;
    text_ += "=\"";
    AppendEscaped(value, false, &text_);
    text_ += '"';
  }
  text_ += '>';
  return *this;
}

Html& Html::Close(std::string_view tag) {
  text_ += "</";
  text_ += tag;
  text_ += '>';
  return *this;
}

Html& Html::Element(std::string_view tag, std::string_view text, Attributes attributes) {
  return Open(tag, attributes).Text(text).Close(tag);
}

}  // namespace warpsmith::cli::report
