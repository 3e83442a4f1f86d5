// The frame of a page: one HTML file that loads nothing, ever. Its policy (Content-Security-Policy) allows no
// connection and no script or style but the two that it brings, by their hashes. Threading: pure.
#ifndef WARPSMITH_CLI_REPORT_PAGE_H_
#define WARPSMITH_CLI_REPORT_PAGE_H_

#include <string>
#include <string_view>

#include "cli/report/html.h"

namespace warpsmith::cli::report {

std::string Page(std::string_view title, const Html& body);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_PAGE_H_
