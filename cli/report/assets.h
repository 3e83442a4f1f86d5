// page.html, page.css and page.js, built into the program.
// Threading: constants.
#ifndef WARPSMITH_CLI_REPORT_ASSETS_H_
#define WARPSMITH_CLI_REPORT_ASSETS_H_

#include <string_view>

namespace warpsmith::cli::report {

extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_ASSETS_H_
