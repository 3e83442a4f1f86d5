// The page of one search, and of a batch: batch_page.h.
// Threading: pure. The same report gives the same page, byte for byte.
#ifndef WARPSMITH_CLI_REPORT_SEARCH_PAGE_H_
#define WARPSMITH_CLI_REPORT_SEARCH_PAGE_H_

#include <string>

#include "cli/report/limits.h"
#include "warpsmith/v1/report.pb.h"

namespace warpsmith::cli::report {

std::string SearchPage(const v1::SearchReport& report, const ReportLimits& limits = {});

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_SEARCH_PAGE_H_
