#include "cli/evaluate_command.h"

#include <ostream>

#include "cli/exit_code.h"
#include "cli/message_json.h"
#include "cli/print_evaluation.h"
#include "cli/problem_file.h"

namespace warpsmith::cli {

absl::Status ReadIncumbent(EvaluateOptions& options) {
  if (options.incumbent_file.empty()) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(options.incumbent, ReadKernelFile(options.incumbent_file));
  options.confirm = true;
  return absl::OkStatus();
}

absl::Status BuiltWithoutEvaluator() {
  return FailedPrecondition(
      "this warpsmith was built without the evaluator (part gpu_worker/evaluate); build all parts");
}

int RunEvaluate(Context& context, EvaluateOptions options) {
  auto problem = ReadProblemFile(options.problem_file);
  if (!problem.ok()) return Fail(context, problem.status());
  auto kernel = ReadKernelFile(options.kernel_file);
  if (!kernel.ok()) return Fail(context, kernel.status());
  options.problem_name = problem->name;
  if (absl::Status read = ReadIncumbent(options); !read.ok()) return Fail(context, read);
  if (!context.evaluator) return Fail(context, BuiltWithoutEvaluator());
  auto result = context.evaluator(options, problem->source, *kernel);
  if (!result.ok()) return Fail(context, result.status());
  if (context.json) {
    context.out << "{\"problem\": " << MessageToJson(result->problem)
                << ",\n\"evaluation\": " << MessageToJson(result->evaluation) << "}\n";
  } else {
    context.out << ProblemText(result->problem) << '\n'
                << EvaluationText(result->evaluation) << RatiosText(result->problem, result->evaluation);
  }
  context.out.flush();
  switch (result->evaluation.outcome()) {
    case v1::OUTCOME_OK:
      return kExitOk;
    case v1::OUTCOME_INFRA_ERROR:
      return kExitFailed;
    default:
      return kExitNothing;
  }
}

}  // namespace warpsmith::cli
