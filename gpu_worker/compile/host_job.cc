#include "gpu_worker/compile/host_job.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/file.h"
#include "gpu_worker/compile/glue.h"
#include "gpu_worker/compile/host_object.h"
#include "gpu_worker/compile/log_text.h"
#include "gpu_worker/compile/report.h"

namespace warpsmith::compile {
namespace {

constexpr std::string_view kMarker = "WARPSMITH_NEEDS_GPU";
constexpr char kObjectFile[] = "candidate.so";
constexpr size_t kMaxLogRead = 1 << 20;

struct GccExit {
  int status = 0;
  double cpu_seconds = 0;
};

std::vector<std::string> Arguments(const wire::Job& job) {
  const wire::HostTools& host = job.host();
  std::vector<std::string> own = HostFlags(job);
  // A precompiled header serves only the flags it was made with.
  bool precompiled = !host.precompiled_folder().empty() && own == std::vector<std::string>{DefaultStandardFlag()};
  std::vector<std::string> arguments = {host.compiler()};
  arguments.insert(arguments.end(), host.flags().begin(), host.flags().end());
  arguments.insert(arguments.end(), own.begin(), own.end());
  if (precompiled) arguments.push_back("-I" + host.precompiled_folder());
  arguments.push_back("-I" + host.header_folder());
  for (const char* argument : {"-fdiagnostics-color=never",
                               "-fmax-errors=20",
                               "-ftemplate-backtrace-limit=4",
                               "-fno-diagnostics-show-option",
                               "-H",
                               "-x",
                               "c++",
                               "glue.cc",
                               "-x",
                               "none",
                               "-shared",
                               "-nostdlib",
                               "-Wl,--version-script=exports",
                               "-Wl,-Bsymbolic",
                               "-Wl,-z,now",
                               "-Wl,-z,relro",
                               "-Wl,-z,noexecstack",
                               "-Wl,--build-id=none",
                               "-o",
                               kObjectFile,
                               "-lm",
                               "-lc",
                               "-lgcc"}) {
    arguments.emplace_back(argument);
  }
  return arguments;
}

absl::StatusOr<GccExit> RunGcc(const wire::Job& job, const HostStreams& streams) {
  std::vector<std::string> arguments = Arguments(job);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::string temporary = "TMPDIR=" + job.work_folder();
  char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C";
  char* environment[] = {path, locale, temporary.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams.null, 0);
  posix_spawn_file_actions_adddup2(&actions, streams.log, 1);
  posix_spawn_file_actions_adddup2(&actions, streams.log, 2);
  pid_t pid = -1;
  int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return FailedPrecondition(ErrnoMessage(fmt::format("cannot run {}", argv[0]), error));
  GccExit exit;
  rusage usage{};
  while (wait4(pid, &exit.status, 0, &usage) < 0) {
    if (errno != EINTR) return Internal(ErrnoMessage("waiting for g++", errno));
  }
  exit.cpu_seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return exit;
}

std::string ReadLog(int descriptor) {
  std::string log(kMaxLogRead, '\0');
  size_t size = 0;
  while (size < log.size()) {
    ssize_t n = pread(descriptor, log.data() + size, log.size() - size, static_cast<off_t>(size));
    if (n <= 0) break;
    size += static_cast<size_t>(n);
  }
  log.resize(size);
  return log;
}

bool Has(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

// -H lists what was included: dots for the depth, a space, the path.
size_t IncludeDepth(std::string_view line) {
  size_t dots = line.find_first_not_of('.');
  return dots != std::string_view::npos && dots > 0 && line[dots] == ' ' ? dots : 0;
}

// Said by a stage of the compiler itself, not in a line of the source that it shows.
bool DiskIsFull(std::string_view log) {
  for (size_t at = 0; at < log.size();) {
    size_t end = std::min(log.find('\n', at), log.size());
    std::string_view line = log.substr(at, end - at);
    at = end + 1;
    if (Has(line, "No space left on device") && line[0] != ' ' && !Has(line, "#error")) return true;
  }
  return false;
}

struct SplitLog {
  std::string diagnostics;
  std::string foreign_include;  // the first that the candidate names and that is not one of ours
};

SplitLog SplitIncludes(const wire::Job& job, std::string_view log) {
  SplitLog split;
  bool in_candidate = false;
  for (size_t at = 0; at < log.size();) {
    size_t end = std::min(log.find('\n', at), log.size());
    std::string_view line = log.substr(at, end - at);
    at = end + 1;
    size_t depth = IncludeDepth(line);
    if (depth > 0) {
      std::string_view path = line.substr(depth + 1);
      if (depth == 1) in_candidate = path == "candidate.cu" || path == "./candidate.cu";
      if (depth == 2 && in_candidate && split.foreign_include.empty() &&
          path.substr(0, job.host().header_folder().size()) != job.host().header_folder()) {
        split.foreign_include = path;
      }
      continue;
    }
    // The unit's own name, precompiled headers, and a heading.
    if (line == " glue.cc" || line.substr(0, 2) == "! " || line.substr(0, 2) == "x " ||
        line == "Multiple include guards may be useful for:") {
      continue;
    }
    // The list after that heading.
    if (!line.empty() && (line[0] == '/' || line == "candidate.cu") && !Has(line, ":")) continue;
    if (line.substr(0, 22) == "In file included from " && Has(line, "glue.cc")) continue;
    split.diagnostics.append(line).append("\n");
  }
  return split;
}

wire::Report FromObject(const wire::Job& job, const std::string& log) {
  absl::StatusOr<std::string> bytes = ReadFile(kObjectFile, job.artifact_bytes());
  if (!bytes.ok()) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "size",
                      fmt::format("the compiled module is over the limit of {} bytes", job.artifact_bytes()));
  }
  absl::StatusOr<HostObject> object = ReadHostObject(*bytes, job.kernel_names_size());
  if (!object.ok()) return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source", Message(object.status()), log);
  if (job.budget_module_bytes() > 0 && object->memory_bytes > static_cast<uint64_t>(job.budget_module_bytes())) {
    return OverBudget(object->memory_bytes, job.budget_module_bytes());
  }
  if (object->runs_at_load) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source",
                      "the file has code that would run when the module is loaded (a constructor, or a variable whose "
                      "initial value is computed); CUDA device code has no such thing",
                      log);
  }
  if (!job.toolkit_checked() && !object->foreign_functions.empty()) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source",
                      fmt::format("the file calls `{}`, which is not a function of CUDA device code",
                                  Demangled(object->foreign_functions[0])),
                      log);
  }
  // NVRTC's module tells constants from state; g++'s sections only nearly so.
  if (!job.toolkit_checked() && !object->writable_variables.empty()) return ModuleState(object->writable_variables);
  wire::Report report = MakeReport(v1::OUTCOME_OK, "", "", log);
  for (int i = 0; i < job.kernel_names_size(); ++i) {
    *report.add_kernels() = object->kernels[i];
    report.mutable_kernels(i)->set_plan_name(job.kernel_names(i));
  }
  report.set_artifact(std::move(*bytes));
  return report;
}

}  // namespace

wire::Report ExplainHostFailure(const wire::Job& job, std::string_view raw_log, double cpu_seconds) {
  std::string log = CleanLog(raw_log, {{job.host().header_folder(), "emulated"},
                                       {job.host().precompiled_folder(), "emulated"},
                                       {job.work_folder() + "/", ""},
                                       {"/usr/include", "host"},
                                       {"/usr/lib", "host"},
                                       {"/usr/bin/", ""}});
  if (cpu_seconds + 0.5 >= static_cast<double>(job.cpu_seconds())) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "time",
                      fmt::format("compiling takes more than {} s", job.cpu_seconds()), log);
  }
  if (DiskIsFull(log)) return InfraError("the disk that holds temporary files is full");
  if (Has(log, "out of memory") || Has(log, "virtual memory exhausted") || Has(log, "memory exhausted") ||
      Has(log, "annot allocate memory")) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "memory",
                      fmt::format("compiling takes more than {} MiB of memory", job.memory_bytes() >> 20), log);
  }
  if (Has(log, "File size limit exceeded") || Has(log, "File too large")) {
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "size",
                      fmt::format("the compiled module is over the limit of {} bytes", job.artifact_bytes()), log);
  }
  std::vector<ErrorLine> errors = ErrorLines(log);
  for (const ErrorLine& error : errors) {
    size_t marker = error.text.find(kMarker);
    if (marker == std::string::npos) continue;
    // A candidate could print the marker itself; where NVRTC took the source that would gain it nothing.
    bool ours = error.file.substr(0, 8) == "emulated" || !Has(job.code(), kMarker);
    if (!job.toolkit_checked() && !ours) continue;
    std::string feature;
    for (char c : error.text.substr(marker + kMarker.size())) {
      bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' || c == '-' ||
                   c == ' ' || c == '(' || c == ')';
      if (!plain || feature.size() >= 60) break;
      if (c != ' ' || !feature.empty()) feature += c;
    }
    while (!feature.empty() && feature.back() == ' ') feature.pop_back();
    return MakeReport(v1::OUTCOME_NEEDS_GPU, feature.empty() ? "feature" : feature,
                      fmt::format("the emulated device cannot do this: {}", feature.empty() ? error.text : feature),
                      log);
  }
  if (job.toolkit_checked()) {
    return MakeReport(v1::OUTCOME_NEEDS_GPU, "unsupported",
                      "NVRTC takes this source, the emulated device does not:\n" + FirstErrors(log), log);
  }
  bool names_only = !errors.empty() && std::all_of(errors.begin(), errors.end(), [](const ErrorLine& error) {
    return error.file == kRegistrationUnit || error.file.substr(0, 8) == "emulated";
  }) && std::any_of(errors.begin(), errors.end(), [](const ErrorLine& error) {
    return error.file == kRegistrationUnit;
  });
  if (names_only) {
    auto first = std::find_if(errors.begin(), errors.end(),
                              [](const ErrorLine& error) { return error.file == kRegistrationUnit; });
    std::string name =
        first->line >= 1 && first->line <= job.kernel_names_size() ? job.kernel_names(first->line - 1) : "";
    return MakeReport(v1::OUTCOME_PLAN_ERROR, "names",
                      fmt::format("a step names the kernel `{}`, which the file does not have: {}", name, first->text),
                      log);
  }
  return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source", FirstErrors(log), log);
}

wire::Report CompileForHost(const wire::Job& job, const HostStreams& streams) {
  for (const auto& [name, content] : {std::pair<std::string, std::string>{"candidate.cu", job.code()},
                                      {"glue.cc", MakeGlue(job)},
                                      {"exports", ExportScript()}}) {
    absl::Status written = WriteFileAtomically(name, content);
    if (!written.ok()) return InfraError(Message(written));
  }
  absl::StatusOr<GccExit> exit = RunGcc(job, streams);
  if (!exit.ok()) return InfraError(Message(exit.status()));
  SplitLog log = SplitIncludes(job, ReadLog(streams.log));
  bool good = WIFEXITED(exit->status) && WEXITSTATUS(exit->status) == 0;
  wire::Report report = good ? FromObject(job, "") : ExplainHostFailure(job, log.diagnostics, exit->cpu_seconds);
  if (!job.toolkit_checked() && !log.foreign_include.empty() &&
      (report.outcome() == v1::OUTCOME_OK || report.outcome() == v1::OUTCOME_COMPILE_ERROR)) {
    std::string name = log.foreign_include.substr(log.foreign_include.rfind('/') + 1);
    return MakeReport(v1::OUTCOME_COMPILE_ERROR, "source",
                      fmt::format("the file includes {}, which is not one of CUDA's device headers", name));
  }
  report.set_toolkit_checked(job.toolkit_checked());
  return report;
}

}  // namespace warpsmith::compile
