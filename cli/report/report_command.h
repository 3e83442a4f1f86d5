// `warpsmith report`: a search or a batch as one HTML page, or with --json the data behind it.
// Threading: one thread.
#ifndef WARPSMITH_CLI_REPORT_REPORT_COMMAND_H_
#define WARPSMITH_CLI_REPORT_REPORT_COMMAND_H_

#include <string>

#include "cli/queue_commands.h"

namespace warpsmith::cli {

struct ReportOptions {
  std::string id;      // of a search or a batch; empty: the latest search
  std::string output;  // a file or a folder; empty: warpsmith-ID.html in the current folder
};

void AddReportCommand(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does);

// Prints where the page went and what it says; the exit code.
int RunReport(Context& context, const ReportOptions& options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_REPORT_REPORT_COMMAND_H_
