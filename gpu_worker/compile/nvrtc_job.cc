#include "gpu_worker/compile/nvrtc_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gpu_worker/compile/cubin.h"
#include "gpu_worker/compile/log_text.h"
#include "gpu_worker/compile/ptx.h"
#include "gpu_worker/compile/report.h"

namespace warpsmith::compile {
namespace {

// What NVRTC calls the unit in which it looks names up.
constexpr std::string_view kNameUnit = "__nv_name_map";

bool IsVariant(const std::string& architecture) { return !architecture.empty() && architecture.back() == 'a'; }

std::vector<std::string> Options(const wire::Job& job, const std::string& architecture) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture};
  for (const std::string& folder : job.include_folders()) options.push_back("--include-path=" + folder);
  bool standard = false;
  for (const std::string& option : job.options()) {
    standard |= option.substr(0, 6) == "--std=";
    options.push_back(option);
  }
  if (!standard) options.push_back("--std=c++17");
  return options;
}

wire::Report FromFailure(const wire::Job& job, const NvrtcOutput& output, const std::string& architecture) {
  std::vector<PathName> folders;
  for (const std::string& folder : job.include_folders()) folders.push_back({folder, "cuda"});
  std::string log = CleanLog(output.log, folders);
  if (output.result == NvrtcApi::kOutOfMemory || log.find("out of memory") != std::string::npos) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "memory",
                      fmt::format("compiling takes more than {} MiB of memory", job.memory_bytes() >> 20), log);
  }
  if (output.result == NvrtcApi::kInvalidOption) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source",
                      fmt::format("NVRTC does not take these options for {}: {}", architecture, log), log);
  }
  if (output.result != NvrtcApi::kCompilation) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source", fmt::format("NVRTC failed: error {}", output.result), log);
  }
  std::vector<ErrorLine> errors = ErrorLines(log);
  bool names_only = !errors.empty() && std::all_of(errors.begin(), errors.end(),
                                                   [](const ErrorLine& error) { return error.file == kNameUnit; });
  if (names_only) {
    return MakeReport(v1::OUTCOME_PLAN_ERROR, "names",
                      fmt::format("a step names a kernel that the file does not have: {}", errors[0].text), log);
  }
  return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source", FirstErrors(log), log);
}

// The kernel's interface from both views of the module: sizes from the cubin, kinds from the PTX.
absl::Status Describe(const std::string& plan_name, const std::string& symbol, const Cubin& cubin, const PtxModule& ptx,
                      wire::Kernel& kernel) {
  auto compiled = std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                               [&](const CubinKernel& candidate) { return candidate.symbol == symbol; });
  if (compiled == cubin.kernels.end()) return NotFound(fmt::format("`{}` is not a __global__ function", plan_name));
  auto entry = std::find_if(ptx.entries.begin(), ptx.entries.end(),
                            [&](const PtxEntry& candidate) { return candidate.symbol == symbol; });
  kernel.set_plan_name(plan_name);
  kernel.set_symbol(symbol);
  kernel.set_max_threads_per_block(compiled->max_threads_per_block);
  kernel.set_static_shared_bytes(compiled->static_shared_bytes);
  kernel.set_registers(compiled->registers);
  kernel.set_local_bytes(compiled->local_bytes);
  for (size_t i = 0; i < compiled->parameters.size(); ++i) {
    wire::Parameter* parameter = kernel.add_parameters();
    parameter->set_size(compiled->parameters[i].size);
    parameter->set_offset(compiled->parameters[i].offset);
    if (entry == ptx.entries.end() || i >= entry->parameters.size()) continue;
    if (entry->parameters[i].size == parameter->size())
      parameter->set_kind(static_cast<int>(entry->parameters[i].kind));
  }
  return absl::OkStatus();
}

wire::Report FromSuccess(const wire::Job& job, const NvrtcOutput& output) {
  absl::StatusOr<Cubin> cubin = ReadCubin(output.cubin);
  if (!cubin.ok()) return InfraError(Message(cubin.status()));
  if (job.budget_module_bytes() > 0 && cubin->module_bytes > static_cast<uint64_t>(job.budget_module_bytes())) {
    return OverBudget(cubin->module_bytes, job.budget_module_bytes());
  }
  if (output.cubin.size() > job.artifact_bytes()) {
    return MakeReport(
        v1::OUTCOME_COMPILE_ERROR, "size",
        fmt::format("the compiled module has {} bytes, the limit is {}", output.cubin.size(), job.artifact_bytes()));
  }
  PtxModule ptx = ReadPtx(output.ptx);
  if (!ptx.writable_variables.empty()) return ModuleState(ptx.writable_variables);
  wire::Report report = MakeReport(v1::OUTCOME_OK, "", "", output.log);
  for (int i = 0; i < job.kernel_names_size(); ++i) {
    absl::Status status = Describe(job.kernel_names(i), output.lowered_names[i], *cubin, ptx, *report.add_kernels());
    if (!status.ok()) return MakeReport(v1::OUTCOME_PLAN_ERROR, "names", Message(status));
  }
  return report;
}

wire::Report CompileOne(const wire::Job& job, NvrtcApi& nvrtc, const std::string& architecture, std::string& cubin) {
  std::vector<std::string> names(job.kernel_names().begin(), job.kernel_names().end());
  absl::StatusOr<NvrtcOutput> output = nvrtc.Compile(job.code(), Options(job, architecture), names);
  if (!output.ok()) return InfraError(Message(output.status()));
  if (output->result != NvrtcApi::kSuccess) return FromFailure(job, *output, architecture);
  cubin = std::move(output->cubin);
  output->cubin = cubin;
  return FromSuccess(job, *output);
}

}  // namespace

wire::Report CompileWithNvrtc(const wire::Job& job, NvrtcApi& nvrtc) {
  wire::Report good, bad;
  bool any_good = false, any_bad = false;
  std::map<std::string, std::string> cubins;
  bool has_variant = std::any_of(job.architectures().begin(), job.architectures().end(), IsVariant);
  for (const std::string& architecture : job.architectures()) {
    // A variant takes all that its family takes and more: it is tried where the source failed, and nothing else then.
    if (job.any_architecture() && any_good && IsVariant(architecture)) continue;
    if (job.any_architecture() && any_bad && has_variant && !IsVariant(architecture)) continue;
    std::string cubin;
    wire::Report report = CompileOne(job, nvrtc, architecture, cubin);
    bool source = report.outcome() == v1::OUTCOME_COMPILE_ERROR && report.reason() == "source";
    if (report.outcome() == v1::OUTCOME_OK) {
      if (!any_good) {
        good = std::move(report);
        good.set_artifact(cubin);
      }
      any_good = true;
      cubins[architecture] = std::move(cubin);
      continue;
    }
    if (job.architectures_size() > 1) report.set_message(fmt::format("for {}: {}", architecture, report.message()));
    if (!any_bad) bad = std::move(report);
    any_bad = true;
    if (!job.any_architecture() || !source) break;
  }
  bool taken = any_good && (!any_bad || (job.any_architecture() && bad.reason() == "source"));
  wire::Report& report = taken ? good : bad;
  for (auto& [architecture, cubin] : cubins) {
    if (taken) (*report.mutable_cubins())[architecture] = std::move(cubin);
  }
  report.set_nvrtc_version(nvrtc.version());
  report.set_toolkit_checked(true);
  return report;
}

}  // namespace warpsmith::compile
