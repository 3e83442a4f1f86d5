#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sstream>

namespace warpsmith::cli {
namespace {

// Length of the UTF-8 sequence at the front of `text`, and its code point; 0 where it is broken.
size_t Decode(std::string_view text, uint32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  if (length == 1) {
    *code = first;
    return 1;
  }
  *code = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    *code = *code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (*code < kLeast[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return 0;
  return length;
}

// C0, DEL, C1, and the marks that turn the direction of writing.
bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string Clean(std::string_view text, bool keep_lines) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t length = Decode(text, &code);
    if (length == 0) {
      clean += '?';
      text.remove_prefix(1);
      continue;
    }
    if (!IsControl(code) || (keep_lines && (code == '\n' || code == '\t'))) {
      clean.append(text.substr(0, length));
    } else if (!(keep_lines && code == '\r')) {
      clean += ' ';
    }
    text.remove_prefix(length);
  }
  return clean;
}

}  // namespace

bool ValidUtf8(std::string_view text) {
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t length = Decode(text, &code);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Line(std::string_view text) { return Clean(text, false); }

std::string Block(std::string_view text) { return Clean(text, true); }

std::string Indent(std::string_view text, std::string_view indent) {
  std::string block = Block(text);
  while (!block.empty() && block.back() == '\n') block.pop_back();
  std::string out(indent);
  for (char c : block) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

std::string Wrap(std::string_view text, int width, std::string_view indent) {
  std::istringstream words(Line(text));
  std::string out;
  std::string word;
  int at = 0;
  while (words >> word) {
    const int length = DisplayWidth(word);
    if (at > 0 && at + 1 + length > width) {
      out += '\n';
      out += indent;
      at = DisplayWidth(indent);
    } else if (!out.empty()) {
      out += ' ';
      ++at;
    }
    out += word;
    at += length;
  }
  return out;
}

int DisplayWidth(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Fit(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return "";
  size_t end = 0;
  int columns = 0;
  while (end < text.size()) {
    if ((text[end] & 0xc0) != 0x80 && columns++ == width - 1) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string FormatMs(double ms) {
  if (!(ms > 0) || !std::isfinite(ms)) return "-";
  const int decimals = ms >= 100 ? 1 : ms >= 10 ? 2 : ms >= 1 ? 3 : ms >= 0.001 ? 4 : 6;
  return fmt::format("{:.{}f}", ms, decimals);
}

std::string FormatPercent(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return fmt::format("{:.1f} %", ratio * 100);
}

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string FormatInstant(int64_t micros) {
  if (micros <= 0) return "-";
  const std::time_t seconds = micros / 1000000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &utc);
  return text;
}

std::string FormatCount(int64_t count) {
  if (count >= 10'000'000) return fmt::format("{}M", count / 1'000'000);
  if (count >= 1'000'000) return fmt::format("{:.1f}M", static_cast<double>(count) / 1e6);
  if (count >= 10'000) return fmt::format("{}k", count / 1000);
  return fmt::format("{}", count);
}

std::string ShortId(std::string_view id) { return Line(id.substr(0, 8)); }

void Table::AddColumn(std::string title, Alignment alignment) {
  titles_.push_back(std::move(title));
  alignments_.push_back(alignment);
}

void Table::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Line(cell);
  cells.resize(titles_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToString(int width) const {
  constexpr int kGap = 2;
  std::vector<int> widths;
  for (const std::string& title : titles_) widths.push_back(DisplayWidth(title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  int total = kGap * (static_cast<int>(widths.size()) - 1);
  for (int w : widths) total += w;
  for (size_t i = widths.size(); i-- > 0 && total > width;) {
    if (alignments_[i] != kLeft) continue;
    constexpr int kLeast = 8;
    widths[i] = std::max(kLeast, widths[i] - (total - width));
    break;
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = Fit(cells[i], widths[i]);
      const std::string pad(static_cast<size_t>(std::max(0, widths[i] - DisplayWidth(cell))), ' ');
      if (i > 0) line.append(kGap, ' ');
      line += alignments_[i] == kRight ? pad + cell : cell + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  add(titles_);
  for (const auto& row : rows_) add(row);
  return out;
}

}  // namespace warpsmith::cli
