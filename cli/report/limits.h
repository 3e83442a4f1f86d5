// What a page leaves out so that it stays usable. Whatever is left out is told on the page.
// Threading: plain values.
#ifndef WARPSMITH_CLI_REPORT_LIMITS_H_
#define WARPSMITH_CLI_REPORT_LIMITS_H_

#include <cstddef>

namespace warpsmith::cli::report {

struct ReportLimits {
  int tree_candidates = 20'000;      // implementations in the tree
  int plot_candidates = 20'000;      // dots of all plots of a page together
  int idea_rows = 100;               // above it ideas are folded by round
  size_t source_bytes = 256u << 10;  // of one source or diff
  size_t sources_bytes = 8u << 20;   // of all sources of a page
  size_t list_message = 240;         // characters of a failure in the tree
  size_t failure_message = 1500;     // of a class's first error
  size_t failure_classes = 40;
};

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_LIMITS_H_
