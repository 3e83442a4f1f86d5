#include "cli/evaluate_command.h"

#include <ostream>

#include "cli/evaluation_session.h"
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
  if (absl::Status read = ReadIncumbent(options); !read.ok()) return Fail(context, read);
  if (!context.session) return Fail(context, BuiltWithoutEvaluator());
  auto session = context.session(options);
  if (!session.ok()) return Fail(context, session.status());
  auto taken = (*session)->TakeIn(problem->name, problem->source);
  if (!taken.ok()) return Fail(context, taken.status());
  const v1::Evaluation evaluation = (*session)->Evaluate(*taken, *kernel, options.accepted, {});
  if (context.json) {
    context.out << "{\"problem\": " << MessageToJson(*taken) << ",\n\"evaluation\": " << MessageToJson(evaluation)
                << "}\n";
  } else {
    context.out << ProblemText(*taken) << '\n' << EvaluationText(evaluation) << RatiosText(*taken, evaluation);
  }
  context.out.flush();
  switch (evaluation.outcome()) {
    case v1::OUTCOME_OK:
      return kExitOk;
    case v1::OUTCOME_INFRA_ERROR:
      return kExitFailed;
    default:
      return kExitNothing;
  }
}

}  // namespace warpsmith::cli
