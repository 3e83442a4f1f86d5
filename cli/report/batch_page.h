// The page of a batch: fast_p, heat map of problems and rounds, a fold for every problem.
// Threading: pure. The same report gives the same page, byte for byte.
#ifndef WARPSMITH_CLI_REPORT_BATCH_PAGE_H_
#define WARPSMITH_CLI_REPORT_BATCH_PAGE_H_

#include <string>

#include "cli/report/limits.h"
#include "warpsmith/v1/report.pb.h"

namespace warpsmith::cli::report {

std::string BatchPage(const v1::BatchReport& report, const ReportLimits& limits = {});

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_BATCH_PAGE_H_
