#include "cli/doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include "cli/doctor_gpu.h"
#include "cli/embedded/cluster.h"
#include "cli/embedded/data_directory.h"
#include "cli/embedded/postgres.h"
#include "cli/embedded/service_user.h"
#include "cli/exit_code.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/json.h"
#include "common/run_child.h"
#include "common/sandbox.h"
#include "gpu_worker/compile/cuda_toolkit.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPythonProbe[] =
    "import sys, torch\n"
    "cuda = 'CPU only' if torch.version.cuda is None else 'CUDA ' + torch.version.cuda\n"
    "count = torch.cuda.device_count() if torch.cuda.is_available() else 0\n"
    "print('Python %d.%d with PyTorch %s (%s, sees %d GPU%s)' % (*sys.version_info[:2], torch.__version__, cuda, "
    "count, "
    "'' if count == 1 else 's'))";

Finding Ok(const char* check, std::string found) { return {Finding::kOk, check, std::move(found), ""}; }
Finding Warn(const char* check, std::string found, std::string remedy) {
  return {Finding::kWarn, check, std::move(found), std::move(remedy)};
}
Finding Bad(const char* check, std::string found, std::string remedy) {
  return {Finding::kFail, check, std::move(found), std::move(remedy)};
}

// The first line of what a program prints, or an error.
absl::StatusOr<std::string> FirstLine(std::vector<std::string> arguments, double seconds) {
  ChildOptions child;
  child.arguments = std::move(arguments);
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit exit, RunChild(child, "", FromSeconds(seconds)));
  if (exit.timed_out || exit.signaled || exit.exit_code != 0) {
    std::string why = exit.standard_error;
    while (!why.empty() && why.back() == '\n') why.pop_back();
    why = why.substr(why.rfind('\n') == std::string::npos ? 0 : why.rfind('\n') + 1);
    return FailedPrecondition(fmt::format("{}{}{}", exit.Describe(), why.empty() ? "" : ": ", Line(why)));
  }
  return Line(exit.standard_output.substr(0, exit.standard_output.find('\n')));
}

// A bundle evaluates and works for a coordinator elsewhere; it holds neither a coordinator nor a gateway.
bool IsBundle() { return !FindProgram("warpsmith-coordinator").ok() && !FindProgram("warpsmith-gateway").ok(); }

Finding CheckPostgres() {
  auto folder = FindPostgres();
  if (!folder.ok()) return Bad("postgresql", "not found", Message(folder.status()));
  auto version = FirstLine({(*folder / "postgres").string(), "--version"}, 10);
  if (!version.ok()) return Bad("postgresql", Message(version.status()), "install PostgreSQL again");
  auto user = ChooseServiceUser();
  if (!user.ok()) return Bad("postgresql", *version, Message(user.status()));
  return Ok("postgresql", fmt::format("{} in {}{}", *version, folder->string(),
                                      user->other ? fmt::format(", to run as {}", user->name) : ""));
}

Finding CheckPython(bool gpu) {
  // Where workers look for it: the one named, else the first that has PyTorch.
  const char* named = std::getenv("WARPSMITH_PYTHON");
  const std::vector<std::string> pythons = named != nullptr && *named != 0
                                               ? std::vector<std::string>{named}
                                               : std::vector<std::string>{"python3", "/usr/bin/python3"};
  std::string why;
  for (const std::string& python : pythons) {
    auto version = FirstLine({python, "-c", kPythonProbe}, 90);
    if (version.ok()) {
      const std::string found = *version + " as " + python;
      if (!gpu || version->find("sees 0 GPUs") == std::string::npos) return Ok("python", found);
      return Bad("python", found, "its PyTorch does not see the GPU: install a build for the driver's CUDA version");
    }
    if (why.empty()) why = fmt::format("{} cannot import torch: {}", python, Message(version.status()));
  }
  return Bad(
      "python", why,
      "install PyTorch (Debian: apt-get install python3-torch), or name a Python that has it in WARPSMITH_PYTHON");
}

Finding CheckNvrtc(bool gpu) {
  const std::optional<compile::CudaToolkit> toolkit = compile::FindCudaToolkit();
  if (toolkit) {
    void* library = dlopen(toolkit->nvrtc.c_str(), RTLD_LAZY | RTLD_LOCAL);
    auto version = library == nullptr ? nullptr : reinterpret_cast<int (*)(int*, int*)>(dlsym(library, "nvrtcVersion"));
    int major = 0;
    int minor = 0;
    const bool good = version != nullptr && version(&major, &minor) == 0;
    if (library != nullptr) dlclose(library);
    if (good) return Ok("nvrtc", fmt::format("{}.{} ({})", major, minor, toolkit->nvrtc.string()));
  }
  const char* remedy =
      "for GPUs install the CUDA toolkit's NVRTC and headers, or name the toolkit's folder in WARPSMITH_CUDA_PATH";
  const std::string found = toolkit ? toolkit->nvrtc.string() + " cannot be loaded" : "not found";
  return gpu ? Bad("nvrtc", found, remedy)
             : Warn("nvrtc", found, std::string("only the emulated device works; ") + remedy);
}

Finding CheckCompiler(bool gpu) {
  auto version = FirstLine({"g++", "--version"}, 10);
  if (version.ok()) return Ok("g++", *version);
  const char* remedy = "the emulated device needs it (Debian: apt-get install g++)";
  return gpu ? Warn("g++", "not found", remedy) : Bad("g++", "not found", remedy);
}

Finding CheckSandbox() {
  const int abi = LandlockAbi();
  if (abi == 0) {
    return Bad("landlock", "this kernel has none, or it is switched off",
               "candidates are not run without it: use Linux 5.13 or later with landlock among the lsm= modules");
  }
  return Ok("landlock", fmt::format("ABI {}", abi));
}

Finding CheckSeccomp() {
  if (prctl(PR_GET_SECCOMP) >= 0 && access("/proc/sys/kernel/seccomp/actions_avail", R_OK) == 0) {
    return Ok("seccomp", "filters are available");
  }
  return Bad("seccomp", "not available", "candidates are not run without it: use a kernel with CONFIG_SECCOMP_FILTER");
}

double FreeGib(const fs::path& path, double* total) {
  struct statvfs information {};
  if (statvfs(path.c_str(), &information) != 0) return -1;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  if (total != nullptr) *total = static_cast<double>(information.f_blocks) * information.f_frsize / kGib;
  return static_cast<double>(information.f_bavail) * information.f_frsize / kGib;
}

Finding CheckSharedMemory() {
  double total = 0;
  const double free = FreeGib("/dev/shm", &total);
  if (free < 0) return Bad("/dev/shm", "not there", "mount a tmpfs on /dev/shm");
  const std::string found = fmt::format("{:.1f} GiB free of {:.1f}", free, total);
  if (free >= 1) return Ok("/dev/shm", found);
  return Warn("/dev/shm", found, "tensors lie there: give it 1 GiB or more (Docker: --shm-size=2g)");
}

Finding CheckDisk(const std::string& data_directory) {
  auto path = DataDirectoryPath(data_directory);
  if (!path.ok()) return Bad("data dir", "none", Message(path.status()));
  fs::path there = *path;
  while (!fs::exists(there) && there.has_parent_path() && there != there.parent_path()) there = there.parent_path();
  if (access(there.c_str(), W_OK | X_OK) != 0) {
    return Bad("data dir", fmt::format("{}: cannot be written to", path->string()), "give another one with --data-dir");
  }
  const double free = FreeGib(there, nullptr);
  const std::string found = fmt::format("{}: {:.1f} GiB free", path->string(), free);
  return free >= 2 ? Ok("data dir", found) : Warn("data dir", found, "the database needs room: free 2 GiB or more");
}

Finding CheckPrograms() {
  std::string missing;
  for (const char* name : {"warpsmith-gateway", "warpsmith-coordinator", "warpsmith-worker", "warpsmith-executor",
                           "warpsmith-compiler", "warpsmith-canary"}) {
    if (!FindProgram(name).ok()) missing.append(missing.empty() ? "" : ", ").append(name);
  }
  if (missing.empty()) return Ok("programs", "all there");
  if (IsBundle() && missing == "warpsmith-gateway, warpsmith-coordinator") {
    return Ok("programs", "a bundle: all that evaluating and being a worker need");
  }
  return Bad("programs", "missing: " + missing,
             "build or install all of warpsmith, or name the folder of its programs in WARPSMITH_BIN_DIR");
}

}  // namespace

Diagnosis Diagnose(const std::string& data_directory, cuda::GpuProbe& probe) {
  Diagnosis diagnosis;
  std::vector<Finding>& findings = diagnosis.findings;
  GpuDiagnosis gpus = DiagnoseGpus(probe, CountGpus() > 0);
  const bool gpu = !gpus.gpus.empty();
  findings.push_back(CheckPrograms());
  if (!IsBundle()) findings.push_back(CheckPostgres());
  findings.push_back(CheckPython(gpu));
  findings.insert(findings.end(), gpus.findings.begin(), gpus.findings.end());
  if (gpu) findings.push_back(CheckCounters("/proc/driver/nvidia/params", geteuid() == 0));
  findings.push_back(CheckNvrtc(gpu));
  if (gpu) {
    for (Finding& finding : CheckLibraries()) findings.push_back(std::move(finding));
  }
  findings.push_back(CheckCompiler(gpu));
  findings.push_back(CheckSandbox());
  findings.push_back(CheckSeccomp());
  findings.push_back(CheckSharedMemory());
  findings.push_back(CheckDisk(data_directory));
  diagnosis.gpus = std::move(gpus.gpus);
  return diagnosis;
}

std::string FindingsText(const std::vector<Finding>& findings) {
  constexpr const char* kLevels[] = {"ok", "warn", "FAIL"};
  std::string out;
  for (const Finding& finding : findings) {
    const std::string head = fmt::format("{:<5}{:<12}", kLevels[finding.level], finding.check);
    const std::string indent(head.size(), ' ');
    out += head + Wrap(finding.found, kPageWidth - static_cast<int>(head.size()), indent) + "\n";
    if (!finding.remedy.empty()) {
      out += indent;
      out += Wrap("→ " + finding.remedy, kPageWidth - static_cast<int>(head.size()), indent + "  ");
      out += '\n';
    }
  }
  return out;
}

int RunDoctor(Context& context) {
  cuda::ProcessGpuProbe probe;
  const Diagnosis diagnosis = Diagnose(context.data_directory, probe);
  const std::vector<Finding>& findings = diagnosis.findings;
  const bool failed = std::any_of(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.level == Finding::kFail; });
  if (context.json) {
    constexpr const char* kLevels[] = {"ok", "warn", "fail"};
    Json list = Json::array();
    for (const Finding& finding : findings) {
      list.push_back({{"check", finding.check},
                      {"level", kLevels[finding.level]},
                      {"found", finding.found},
                      {"remedy", finding.remedy}});
    }
    const Json json = {{"ok", !failed}, {"checks", list}, {"gpus", diagnosis.gpus}};
    context.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    context.out << FindingsText(findings) << std::flush;
  }
  return failed ? kExitFailed : kExitOk;
}

}  // namespace warpsmith::cli
