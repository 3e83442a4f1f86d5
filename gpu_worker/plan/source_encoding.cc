#include "gpu_worker/plan/source_encoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_check.h"

namespace warpsmith::plan {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Length of the UTF-8 sequence at `at`; 0: none (overlong forms, surrogates and values above U+10FFFF are none).
size_t SequenceLength(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(at), second = byte(at + 1);
  if (first < 0x80) return 1;
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string_view WithoutByteOrderMark(std::string_view file) {
  return file.starts_with(kByteOrderMark) ? file.substr(kByteOrderMark.size()) : file;
}

std::string Printable(std::string_view text, size_t max) {
  std::string result(text.substr(0, max));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

absl::Status CheckEncoding(std::string_view file) {
  if (file.size() > kMaxFileBytes) {
    return PlanError(reason::kEncoding,
                     fmt::format("the file has {} bytes; the limit is {} (1 MiB)", file.size(), kMaxFileBytes));
  }
  int line = 1;
  auto fail = [&](std::string_view message) {
    return PlanError(reason::kEncoding, fmt::format("line {}: {}", line, message));
  };
  for (size_t at = 0; at < file.size();) {
    const char c = file[at];
    if (c == '\0') return fail("a NUL byte; the compiler would take it for the file's end");
    if (c == '\n') ++line;
    if (c == '\r' && (at + 1 >= file.size() || file[at + 1] != '\n')) {
      return fail("a carriage return without a line feed; end lines with LF or CR LF");
    }
    if (c == '?' && (file.substr(at).starts_with("\?\?=") || file.substr(at).starts_with("\?\?/"))) {
      return fail("the trigraph \"\?\?=\" or \"\?\?/\", which compilers read differently; write it otherwise");
    }
    if (c == '\\') {
      size_t next = file.find_first_not_of(" \t\v\f", at + 1);
      bool newline = next != std::string_view::npos && (file[next] == '\n' || file[next] == '\r');
      if (newline && next > at + 1) {
        return fail("a backslash followed by white space at the line's end, which compilers read differently");
      }
    }
    size_t length = SequenceLength(file, at);
    if (length == 0) return fail(fmt::format("byte 0x{:02X} is not valid UTF-8", static_cast<unsigned char>(c)));
    at += length;
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::plan
