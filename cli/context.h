// What every command gets: where it writes and how. Results go to `out`, progress and errors to `err`.
// Threading: one command, one thread.
#ifndef WARPSMITH_CLI_CONTEXT_H_
#define WARPSMITH_CLI_CONTEXT_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::cli {

struct EvaluateOptions;

struct LocalEvaluation {
  v1::Problem problem;
  v1::Evaluation evaluation;
};

// Evaluates one candidate on this machine without services: intake, compile, check, judge, time.
using LocalEvaluator = std::function<absl::StatusOr<LocalEvaluation>(
    const EvaluateOptions& options, const std::string& problem_source, const std::string& kernel_source)>;

class EvaluationSession;

// Many evaluations with one set of parts: evaluation_session.h.
using SessionFactory = std::function<absl::StatusOr<std::unique_ptr<EvaluationSession>>(const EvaluateOptions&)>;

struct Context {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  LocalEvaluator evaluator = nullptr;  // unset: `evaluate` is not part of this build
  SessionFactory session = nullptr;    // of `evaluate --batch`; unset likewise

  // Of the command line.
  bool json = false;
  std::string coordinator = {};     // address; empty: WARPSMITH_COORDINATOR, then the data directory's own
  std::string data_directory = {};  // empty: the default
};

// Prints the error (as JSON with --json) and returns its exit code.
int Fail(Context& context, const absl::Status& status);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_CONTEXT_H_
