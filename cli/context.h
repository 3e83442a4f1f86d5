// What every command gets: where it writes and how. Results go to `out`, progress and errors to `err`.
// Threading: one command, one thread.
#ifndef WARPSMITH_CLI_CONTEXT_H_
#define WARPSMITH_CLI_CONTEXT_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "common/security_settings.h"
#include "common/status.h"

namespace warpsmith::cli {

struct EvaluateOptions;
struct HostCodeSettings;

class EvaluationSession;
class HostCodeSession;

// Evaluations on this machine without services, with one set of parts: evaluation_session.h.
using SessionFactory = std::function<absl::StatusOr<std::unique_ptr<EvaluationSession>>(const EvaluateOptions&)>;

// Candidates in Python on this machine: host_code_session.h.
using HostCodeFactory = std::function<absl::StatusOr<std::unique_ptr<HostCodeSession>>(const HostCodeSettings&)>;

struct Context {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  SessionFactory session = nullptr;     // unset: `evaluate` is not part of this build
  HostCodeFactory host_code = nullptr;  // unset: candidates in Python cannot be taken in by this build

  // Of the command line.
  bool json = false;
  std::string coordinator = {};     // address; empty: WARPSMITH_COORDINATOR, then the data directory's own
  std::string data_directory = {};  // empty: the default
  SecuritySettings security = {};   // of the connections
};

// Prints the error (as JSON with --json) and returns its exit code.
int Fail(Context& context, const absl::Status& status);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_CONTEXT_H_
