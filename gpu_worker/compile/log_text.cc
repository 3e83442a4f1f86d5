#include "gpu_worker/compile/log_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace warpsmith::compile {
namespace {

constexpr int kMaxErrorsShown = 3;
constexpr int kMaxLinesAnError = 6;

// Length of the UTF-8 sequence at `at`, 0 if there is none that is valid.
size_t Utf8Length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  if (first < 0x80) return 1;
  size_t length = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  unsigned char second = byte(at + 1);
  bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

std::string PrintableUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t length = Utf8Length(text, at);
    if (length == 0) {
      out += '?';
      ++at;
      continue;
    }
    unsigned char c = text[at];
    if (length > 1 || c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f)) out += text.substr(at, length);
    at += length;
  }
  return out;
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size()) {
    out.append(text, at, found - at).append(to);
  }
  if (at == 0) return;
  text = out.append(text, at);
}

// The beginning and end of a valid UTF-8 text, cut between characters.
std::string Shorten(const std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  constexpr size_t kNote = 64;
  size_t room = max_bytes > kNote ? max_bytes - kNote : 0;
  size_t head = room * 3 / 4, tail = text.size() - (room - head);
  auto inside = [&](size_t at) { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  while (head > 0 && inside(head)) --head;
  while (inside(tail)) ++tail;
  return fmt::format("{}\n... {} bytes left out ...\n{}", text.substr(0, head), tail - head, text.substr(tail));
}

int ToLine(std::string_view digits) {
  int value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? value : 0;
}

template <typename Visit>
void ForEachLine(std::string_view text, Visit visit) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    visit(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

std::string CleanLog(std::string_view log, std::vector<PathName> folders, size_t max_bytes) {
  // Far more than is kept, and no more than is worth scrubbing.
  constexpr size_t kMaxScanned = 1 << 20;
  std::string text;
  if (log.size() > kMaxScanned) {
    text = fmt::format("{}\n... left out ...\n{}", log.substr(0, kMaxScanned / 2),
                       log.substr(log.size() - kMaxScanned / 2));
    log = text;
  }
  std::string clean = PrintableUtf8(log);
  std::sort(folders.begin(), folders.end(),
            [](const PathName& a, const PathName& b) { return a.folder.size() > b.folder.size(); });
  // Which of the two it is would tell what files this machine has.
  ReplaceAll(clean, "\": Permission denied", "\"");
  ReplaceAll(clean, ": Permission denied", ": No such file or directory");
  for (const PathName& folder : folders) ReplaceAll(clean, folder.folder, folder.shown);
  return Shorten(clean, max_bytes);
}

std::optional<ErrorLine> ParseErrorLine(std::string_view line) {
  size_t mark = std::string_view::npos, length = 0;
  for (std::string_view word : {": error: ", ": fatal error: ", ": catastrophic error: ", ": error #"}) {
    size_t found = line.find(word);
    if (found < mark) {
      mark = found;
      length = word.size();
    }
  }
  if (mark == std::string_view::npos) {
    // ptxas: "ptxas application ptx input, line 23; fatal   : Parsing error"
    if (line.substr(0, 5) != "ptxas" || line.find("rror") == std::string_view::npos) return std::nullopt;
    return ErrorLine{"ptx", 0, std::string(line)};
  }
  std::string_view place = line.substr(0, mark);
  ErrorLine parsed;
  parsed.text = line.substr(mark + length);
  if (!place.empty() && place.back() == ')') {
    size_t open = place.rfind('(');
    if (open == std::string_view::npos) return std::nullopt;
    parsed.file = place.substr(0, open);
    parsed.line = ToLine(place.substr(open + 1));
  } else {
    size_t colon = place.find(':');
    parsed.file = place.substr(0, colon);
    if (colon != std::string_view::npos) parsed.line = ToLine(place.substr(colon + 1));
  }
  return parsed;
}

std::vector<ErrorLine> ErrorLines(std::string_view log) {
  std::vector<ErrorLine> errors;
  ForEachLine(log, [&](std::string_view line) {
    if (auto error = ParseErrorLine(line)) errors.push_back(std::move(*error));
  });
  return errors;
}

std::string FirstErrors(std::string_view log) {
  std::string message;
  int errors = 0, lines = 0;
  ForEachLine(log, [&](std::string_view line) {
    bool starts = ParseErrorLine(line).has_value();
    if (starts) {
      ++errors;
      lines = 0;
    }
    bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
    bool other = line.find(": warning") != std::string_view::npos ||
                 line.find("detected in the compilation") != std::string_view::npos;
    if (other) lines = kMaxLinesAnError;
    if (errors == 0 || errors > kMaxErrorsShown || blank || lines++ >= kMaxLinesAnError) return;
    if (!message.empty()) message += '\n';
    message += line;
  });
  if (message.empty()) message = log.substr(0, kMaxMessageBytes);
  return Shorten(PrintableUtf8(message), kMaxMessageBytes);
}

}  // namespace warpsmith::compile
