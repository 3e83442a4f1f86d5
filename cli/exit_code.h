// What the program's exit status says. Documented in `warpsmith --help`.
// Threading: pure.
#ifndef WARPSMITH_CLI_EXIT_CODE_H_
#define WARPSMITH_CLI_EXIT_CODE_H_

#include "common/status.h"

namespace warpsmith::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,        // the command or the search failed
  kExitUsage = 2,         // wrong arguments
  kExitNothing = 3,       // nothing by that name, or the search ended without a valid kernel
  kExitUnreachable = 4,   // no coordinator answers
  kExitInterrupted = 130  // SIGINT, SIGTERM or SIGHUP
};

inline int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
      return kExitUsage;
    case absl::StatusCode::kNotFound:
      return kExitNothing;
    case absl::StatusCode::kUnavailable:
      return kExitUnreachable;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitFailed;
  }
}

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EXIT_CODE_H_
