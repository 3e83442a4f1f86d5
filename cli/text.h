// Text for terminals: safe, aligned, cut to fit. What a model wrote may hold escape sequences; nothing reaches a
// terminal but through Line or Block.
// Threading: pure. Units: widths are columns, one a code point.
#ifndef WARPSMITH_CLI_TEXT_H_
#define WARPSMITH_CLI_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpsmith::cli {

inline constexpr int kPageWidth = 100;

bool ValidUtf8(std::string_view text);
// One line: control characters and line ends become blanks, broken UTF-8 becomes '?'.
std::string Line(std::string_view text);
// The same, but newlines and tabs stay.
std::string Block(std::string_view text);
// Each line of Block(text) behind `indent`; without a last newline.
std::string Indent(std::string_view text, std::string_view indent);
// Words wrapped into lines of at most `width`, the second and later ones behind `indent`.
std::string Wrap(std::string_view text, int width, std::string_view indent);

int DisplayWidth(std::string_view text);
// Cut to `width` with "…" at the end where it is longer.
std::string Fit(std::string_view text, int width);

std::string FormatMs(double ms);            // "1.234", "0.0051"; "-" for 0
std::string FormatPercent(double ratio);    // "82.1 %"; "-" for 0
std::string FormatSeconds(double seconds);  // "8.1 s", "1 min 12 s", "2 h 03 min"
std::string FormatInstant(int64_t micros);  // UTC, "2025-05-28 17:04"; "-" for 0
std::string FormatCount(int64_t count);     // "1.2M", "38k", "512"
std::string ShortId(std::string_view id);   // the first 8 characters: enough to name it

// Columns padded to their widest cell.
class Table {
 public:
  enum Alignment { kLeft, kRight };

  void AddColumn(std::string title, Alignment alignment = kLeft);
  void AddRow(std::vector<std::string> cells);  // missing cells are empty
  bool empty() const { return rows_.empty(); }
  // The last left-aligned column is cut so that lines have at most `width` columns.
  std::string ToString(int width = kPageWidth) const;

 private:
  std::vector<std::string> titles_;
  std::vector<Alignment> alignments_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_TEXT_H_
