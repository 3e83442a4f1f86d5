#include "gpu_worker/compile/child_compiler.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <future>

#include "common/run_child.h"
#include "common/version.h"
#include "gpu_worker/compile/child_job.h"
#include "gpu_worker/compile/kernel_name.h"
#include "gpu_worker/compile/report.h"

namespace warpsmith::compile {
namespace {

constexpr char kProgram[] = "warpsmith-compiler";
constexpr char kHeaderShare[] = "gpu_worker/device/emulated/include";
// Changes whenever this code makes another artifact or verdict of the same input.
constexpr char kRevision[] = "c1";
constexpr size_t kMaxCodeBytes = 1 << 20;
constexpr size_t kMaxKernels = 1024;
constexpr size_t kMaxReportBytes = 2 << 20;  // besides its artifacts
// A stage that its CPU limit has not stopped after so many times that limit got no CPU: the machine's fault.
constexpr double kWallFactor = 6;
constexpr double kMinWallSeconds = 30;

std::optional<wire::Report> CheckRequest(const CompileRequest& request) {
  if (request.code.size() > kMaxCodeBytes) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "size",
                      fmt::format("the file has {} bytes, the limit is {}", request.code.size(), kMaxCodeBytes));
  }
  // NVRTC takes a zero byte for the end of the file.
  if (request.code.find('\0') != std::string::npos) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source", "the file holds a zero byte");
  }
  if (request.kernel_names.size() > kMaxKernels) {
    return MakeReport(v1::OUTCOME_PLAN_ERROR, "names", fmt::format("the plan names more than {} kernels", kMaxKernels));
  }
  for (const std::string& name : request.kernel_names) {
    if (absl::Status status = CheckKernelName(name); !status.ok()) {
      return MakeReport(v1::OUTCOME_PLAN_ERROR, "names", Message(status));
    }
  }
  return std::nullopt;
}

// The emulated build knows kinds best, the cubin knows what the kernel would take on a GPU.
void AddResources(const wire::Report& device, wire::Report& host) {
  for (int i = 0; i < host.kernels_size() && i < device.kernels_size(); ++i) {
    const wire::Kernel& from = device.kernels(i);
    wire::Kernel& to = *host.mutable_kernels(i);
    to.set_registers(from.registers());
    to.set_local_bytes(from.local_bytes());
    to.set_max_threads_per_block(std::min(to.max_threads_per_block(), from.max_threads_per_block()));
    if (to.static_shared_bytes() == 0) to.set_static_shared_bytes(from.static_shared_bytes());
  }
}

}  // namespace

absl::StatusOr<CompileResult> ChildCompiler::Compile(const CompileRequest& request) {
  TimePoint started = RealClock().Now();
  std::optional<wire::Report> refused = CheckRequest(request);
  absl::StatusOr<CompileResult> result = ToResult(refused ? *refused : CompileRequestToReport(request), request);
  if (result.ok()) result->seconds = ToSeconds(RealClock().Now() - started);
  return result;
}

wire::Report ChildCompiler::CompileRequestToReport(const CompileRequest& request) {
  const std::optional<Toolkit>& toolkit = FindToolkit();
  if (!request.emulated) {
    if (request.architectures.empty()) return InfraError("no architecture was asked for");
    if (toolkit) return RunNvrtc(request, *toolkit);
    std::lock_guard lock(mutex_);
    return InfraError(toolkit_problem_.empty()
                          ? "NVRTC was not found: install the CUDA toolkit or set WARPSMITH_CUDA_PATH to its folder"
                          : toolkit_problem_);
  }
  if (!toolkit) return RunHost(request, false);
  // Side by side, for latency; NVRTC's verdict comes first.
  std::future<wire::Report> running = std::async(std::launch::async, [&] { return RunHost(request, true); });
  wire::Report device = RunNvrtc(request, *toolkit);
  wire::Report host = running.get();
  if (device.outcome() != v1::OUTCOME_OK) return device;
  host.set_toolkit_checked(true);
  host.set_nvrtc_version(toolkit->version);
  if (host.log().empty()) host.set_log(device.log());
  AddResources(device, host);
  return host;
}

wire::Job ChildCompiler::NewJob(wire::Mode mode, const CompileRequest& request) const {
  wire::Job job;
  job.set_mode(mode);
  job.set_code(request.code);
  for (const std::string& name : request.kernel_names) job.add_kernel_names(name);
  for (const std::string& option : request.options) job.add_options(option);
  job.set_budget_module_bytes(request.budget_module_bytes);
  job.set_cpu_seconds(options_.cpu_seconds);
  job.set_memory_bytes(options_.memory_bytes);
  job.set_artifact_bytes(options_.artifact_bytes);
  return job;
}

wire::Report ChildCompiler::RunNvrtc(const CompileRequest& request, const Toolkit& toolkit) {
  wire::Job job = NewJob(wire::MODE_NVRTC, request);
  for (const std::string& architecture : request.architectures) job.add_architectures(architecture);
  if (request.emulated) {
    job.set_any_architecture(true);
    if (request.architectures.empty()) {
      for (const char* architecture : {"sm_89", "sm_90", "sm_90a"}) job.add_architectures(architecture);
    }
  }
  job.set_nvrtc_path(toolkit.files.nvrtc.string());
  job.set_builtins_path(toolkit.files.builtins.string());
  for (const std::string& folder : toolkit.files.include_folders) job.add_include_folders(folder);
  return RunChildJob(job);
}

wire::Report ChildCompiler::RunHost(const CompileRequest& request, bool toolkit_checked) {
  absl::StatusOr<HostToolchain> host = FindHost();
  if (!host.ok()) return InfraError(Message(host.status()));
  absl::StatusOr<TemporaryDirectory> work = TemporaryDirectory::Create("warpsmith-compile");
  if (!work.ok()) return InfraError(Message(work.status()));
  wire::Job job = NewJob(wire::MODE_HOST, request);
  job.set_toolkit_checked(toolkit_checked);
  std::error_code error;
  job.set_work_folder(std::filesystem::canonical(work->path(), error).string());
  *job.mutable_host() = host->tools;
  return RunChildJob(job);
}

wire::Report ChildCompiler::RunChildJob(const wire::Job& job) {
  absl::StatusOr<std::filesystem::path> program = FindProgram(kProgram);
  if (!program.ok()) return InfraError(Message(program.status()));
  std::string message;
  job.SerializeToString(&message);
  ChildOptions child;
  child.ignore_stop_signals = true;
  child.arguments = {program->string()};
  child.environment.emplace();
  child.working_directory = "/";
  child.max_output_bytes =
      options_.artifact_bytes * static_cast<size_t>(job.architectures_size() + 1) + kMaxReportBytes;
  absl::StatusOr<ChildExit> exit =
      RunChild(child, Frame(message),
               FromSeconds(std::max(kMinWallSeconds, kWallFactor * static_cast<double>(options_.cpu_seconds))));
  if (!exit.ok()) return InfraError(Message(exit.status()));
  wire::Report report;
  absl::StatusOr<std::string> output = Unframe(exit->standard_output);
  if (!exit->timed_out && !exit->signaled && exit->exit_code == 0 && output.ok() && report.ParseFromString(*output)) {
    return report;
  }
  return Explain(*exit);
}

wire::Report ChildCompiler::Explain(const ChildExit& exit) const {
  auto limit = static_cast<double>(options_.cpu_seconds);
  bool cpu_spent = exit.cpu_seconds + 0.5 >= limit;
  if (cpu_spent || (exit.signaled && exit.signal == SIGXCPU)) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "time", fmt::format("compiling takes more than {} s", limit));
  }
  if (exit.timed_out) {
    if (exit.cpu_seconds > limit / 2) {
      return MakeReport(v1::OUTCOME_COMPILE_ERROR, "time", fmt::format("compiling takes more than {} s", limit));
    }
    return InfraError(fmt::format("the compiler got only {:.1f} s of CPU time in {:.0f} s: this machine is overloaded",
                                  exit.cpu_seconds, exit.seconds));
  }
  if (exit.signaled && exit.signal == SIGSYS) {
    return InfraError("the compiler was stopped by its sandbox: it made a system call that is not on the list");
  }
  if (!exit.signaled && exit.exit_code == 2) return InfraError("the compiler child did not understand its job");
  // Compilers answer a refused allocation in many ways: an abort, a crash, an exit status.
  if (exit.max_resident_bytes > static_cast<int64_t>(options_.memory_bytes / 5 * 2)) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "memory",
                      fmt::format("compiling takes more than {} MiB of memory", options_.memory_bytes >> 20));
  }
  if (exit.signaled && exit.signal == SIGKILL) {
    return InfraError("the compiler was killed from outside; this machine may be short of memory");
  }
  return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source",
                    fmt::format("the compiler itself failed on this source: {}", exit.Describe()));
}

const std::optional<ChildCompiler::Toolkit>& ChildCompiler::FindToolkit() {
  std::lock_guard lock(mutex_);
  if (toolkit_searched_ || !options_.use_toolkit) return toolkit_;
  toolkit_searched_ = true;
  std::optional<CudaToolkit> files = FindCudaToolkit();
  if (!files) return toolkit_;
  wire::Job probe = NewJob(wire::MODE_PROBE, {});
  probe.set_nvrtc_path(files->nvrtc.string());
  probe.set_builtins_path(files->builtins.string());
  wire::Report report = RunChildJob(probe);
  if (report.outcome() == v1::OUTCOME_OK) {
    toolkit_ = Toolkit{std::move(*files), report.nvrtc_version()};
  } else {
    toolkit_problem_ = fmt::format("NVRTC at {} does not work: {}", files->nvrtc.string(), report.message());
    spdlog::warn("{}", toolkit_problem_);
  }
  return toolkit_;
}

absl::StatusOr<HostToolchain> ChildCompiler::FindHost() {
  std::lock_guard lock(mutex_);
  if (host_) return *host_;
  std::filesystem::path headers = options_.header_folder;
  if (headers.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(headers, FindShare(kHeaderShare));
  }
  WARPSMITH_ASSIGN_OR_RETURN(HostToolchain host, FindHostToolchain(options_.host_compiler, headers));
  if (options_.precompile_header) {
    std::filesystem::path cache = options_.cache_folder;
    if (cache.empty()) {
      if (!own_cache_) {
        WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory own, TemporaryDirectory::Create("warpsmith-header"));
        own_cache_ = std::move(own);
      }
      cache = own_cache_->path();
    }
    WARPSMITH_RETURN_IF_ERROR(AddPrecompiledHeader(cache, host));
  }
  host_ = std::move(host);
  return *host_;
}

std::string ChildCompiler::NvrtcVersion() {
  const std::optional<Toolkit>& toolkit = FindToolkit();
  return toolkit ? toolkit->version : "";
}

std::string ChildCompiler::Fingerprint() {
  std::string fingerprint = fmt::format("{} {} nvrtc={}", kVersion, kRevision, NvrtcVersion());
  if (const std::optional<Toolkit>& toolkit = FindToolkit()) fingerprint += " " + toolkit->files.nvrtc.string();
  // Limits too: they decide verdicts.
  fingerprint += fmt::format(" {} {} {}", options_.cpu_seconds, options_.memory_bytes, options_.artifact_bytes);
  if (absl::StatusOr<HostToolchain> host = FindHost(); host.ok()) {
    fingerprint += " " + host->version + " " + host->headers_sha;
    for (const std::string& flag : host->tools.flags()) fingerprint += " " + flag;
  }
  return fingerprint;
}

}  // namespace warpsmith::compile
