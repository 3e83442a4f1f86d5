// A table of a page: header cells with scope, numbers to the right, a box around it that scrolls sideways where the
// screen is narrower.
// Threading: a plain value.
#ifndef WARPSMITH_CLI_REPORT_HTML_TABLE_H_
#define WARPSMITH_CLI_REPORT_HTML_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/html.h"

namespace warpsmith::cli::report {

class HtmlTable {
 public:
  enum Kind { kText, kNumber };

  // `caption` is for readers that cannot see the heading above.
  explicit HtmlTable(std::string caption, std::string classes = "");

  HtmlTable& Column(std::string title, Kind kind = kText);
  // Cells of the row that is being filled; EndRow fills up what is missing.
  HtmlTable& Cell(std::string_view text);
  HtmlTable& Cell(const Html& content, std::string_view classes = "");
  HtmlTable& EndRow(std::string_view classes = "");

  bool empty() const { return rows_ == 0; }
  int rows() const { return rows_; }
  Html Finish() const;

 private:
  struct Heading {
    std::string title;
    Kind kind;
  };

  std::string caption_;
  std::string classes_;
  std::vector<Heading> columns_;
  Html row_;
  Html body_;
  size_t cells_ = 0;
  int rows_ = 0;
};

// "13,500"
std::string Thousands(int64_t count);
// At most `characters`, then how many were cut: for long messages.
std::string CutCounted(std::string_view text, size_t characters);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_HTML_TABLE_H_
