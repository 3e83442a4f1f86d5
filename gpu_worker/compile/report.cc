#include "gpu_worker/compile/report.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

#include "gpu_worker/compile/log_text.h"

namespace warpsmith::compile {
namespace {

constexpr size_t kMaxVariablesNamed = 5;
constexpr int kMaxParameters = 4096;

bool IsPossible(int outcome) {
  return outcome == v1::OUTCOME_OK || outcome == v1::OUTCOME_COMPILE_ERROR || outcome == v1::OUTCOME_PLAN_ERROR ||
         outcome == v1::OUTCOME_NEEDS_GPU || outcome == v1::OUTCOME_OUT_OF_MEMORY || outcome == v1::OUTCOME_INFRA_ERROR;
}

absl::StatusOr<plan::KernelInterface> ToInterface(const wire::Kernel& kernel) {
  plan::KernelInterface out;
  out.plan_name = kernel.plan_name();
  out.symbol = kernel.symbol();
  if (kernel.parameters_size() > kMaxParameters) return Internal("the compiler child listed too many parameters");
  for (const wire::Parameter& parameter : kernel.parameters()) {
    if (parameter.kind() < 0 || parameter.kind() > static_cast<int>(plan::ParameterKind::kStruct) ||
        parameter.size() < 0 || parameter.offset() < 0) {
      return Internal("the compiler child reported an impossible parameter");
    }
    out.parameters.push_back(
        {static_cast<plan::ParameterKind>(parameter.kind()), parameter.size(), parameter.offset()});
  }
  if (kernel.max_threads_per_block() < 1 || kernel.max_threads_per_block() > 1024 || kernel.static_shared_bytes() < 0 ||
      kernel.registers() < 0 || kernel.local_bytes() < 0) {
    return Internal("the compiler child reported impossible resources");
  }
  out.max_threads_per_block = kernel.max_threads_per_block();
  out.static_shared_bytes = kernel.static_shared_bytes();
  out.registers = kernel.registers();
  out.local_bytes = kernel.local_bytes();
  return out;
}

}  // namespace

wire::Report MakeReport(v1::Outcome outcome, std::string_view reason, std::string_view message, std::string_view log) {
  wire::Report report;
  report.set_outcome(outcome);
  report.set_reason(std::string(reason));
  report.set_message(CleanLog(message, {}, kMaxMessageBytes));
  report.set_log(CleanLog(log, {}));
  return report;
}

wire::Report InfraError(std::string_view message) { return MakeReport(v1::OUTCOME_INFRA_ERROR, "compiler", message); }

wire::Report OverBudget(uint64_t bytes, int64_t budget) {
  return MakeReport(
      v1::OUTCOME_OUT_OF_MEMORY, "module_size",
      fmt::format("loading the module takes {} bytes (its variables and code), the limit is {}; put large "
                  "arrays into scratch",
                  bytes, budget));
}

wire::Report ModuleState(const std::vector<std::string>& variables) {
  std::string names;
  for (size_t i = 0; i < variables.size() && i < kMaxVariablesNamed; ++i) {
    names += (i == 0 ? "`" : ", `") + Demangled(variables[i]) + "`";
  }
  if (variables.size() > kMaxVariablesNamed)
    names += fmt::format(" and {} more", variables.size() - kMaxVariablesNamed);
  return MakeReport(
      v1::OUTCOME_PLAN_ERROR, "module_state",
      fmt::format("the module has writable variables: {}. They would carry state from launch to launch: put "
                  "counters and tickets into scratch, cleared by a memset step, and mark tables const or "
                  "__constant__",
                  names));
}

std::string Demangled(const std::string& symbol) {
  if (symbol.size() > 4096) return symbol.substr(0, 80);
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : symbol;
  std::free(text);
  return name;
}

absl::StatusOr<CompileResult> ToResult(const wire::Report& report, const CompileRequest& request) {
  if (!IsPossible(report.outcome())) return Internal("the compiler child reported an unknown outcome");
  CompileResult result;
  result.outcome = static_cast<v1::Outcome>(report.outcome());
  result.reason = report.reason().substr(0, 64);
  result.message = CleanLog(report.message(), {}, kMaxMessageBytes);
  result.log = CleanLog(report.log(), {});
  result.toolkit_checked = report.toolkit_checked();
  result.nvrtc_version = report.nvrtc_version();
  if (result.outcome != v1::OUTCOME_OK) return result;
  if (static_cast<size_t>(report.kernels_size()) != request.kernel_names.size()) {
    return Internal("the compiler child did not report each kernel");
  }
  for (int i = 0; i < report.kernels_size(); ++i) {
    if (report.kernels(i).plan_name() != request.kernel_names[i]) {
      return Internal("the compiler child reported kernels in another order");
    }
    WARPSMITH_ASSIGN_OR_RETURN(plan::KernelInterface kernel, ToInterface(report.kernels(i)));
    result.kernels.push_back(std::move(kernel));
  }
  result.artifact = report.artifact();
  for (const auto& [architecture, cubin] : report.cubins()) result.cubins[architecture] = cubin;
  if (result.artifact.empty()) return Internal("the compiler child reported success without an artifact");
  return result;
}

}  // namespace warpsmith::compile
