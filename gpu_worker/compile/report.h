// Small makers of reports, for the child and its parent.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_REPORT_H_
#define WARPSMITH_GPU_WORKER_COMPILE_REPORT_H_

#include <string>
#include <string_view>

#include "gpu_worker/compile/compile.pb.h"
#include "gpu_worker/compile/compiler.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::compile {

wire::Report MakeReport(v1::Outcome outcome, std::string_view reason, std::string_view message,
                        std::string_view log = {});
wire::Report InfraError(std::string_view message);

// "The module holds ...": OUT_OF_MEMORY where `bytes` is over the budget.
wire::Report OverBudget(uint64_t bytes, int64_t budget);
// PLAN_ERROR module_state, naming the variables.
wire::Report ModuleState(const std::vector<std::string>& variables);

// A mangled C++ name for people.
std::string Demangled(const std::string& symbol);

// Checks what a report claims (a hijacked child could claim anything) and turns it into a result.
absl::StatusOr<CompileResult> ToResult(const wire::Report& report, const CompileRequest& request);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_REPORT_H_
