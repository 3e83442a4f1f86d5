// What changed between two texts, line by line: a shortest edit script, or for texts that have too little in common the
// whole of both.
// Threading: pure. Source: E. Myers, "An O(ND) difference algorithm and its variations" (1986), the greedy form.
#ifndef WARPSMITH_CLI_REPORT_LINE_DIFF_H_
#define WARPSMITH_CLI_REPORT_LINE_DIFF_H_

#include <string_view>
#include <vector>

namespace warpsmith::cli::report {

struct DiffLine {
  enum Kind { kSame, kRemoved, kAdded };
  Kind kind;
  std::string_view text;  // without its line end; part of one of the two texts
};

std::vector<std::string_view> SplitLines(std::string_view text);

// `most_edits`: above it the middle is told as replaced whole.
std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after, int most_edits = 1500);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_LINE_DIFF_H_
