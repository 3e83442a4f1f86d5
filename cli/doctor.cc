#include "cli/doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "cli/embedded/cluster.h"
#include "cli/embedded/data_directory.h"
#include "cli/embedded/postgres.h"
#include "cli/embedded/service_user.h"
#include "cli/exit_code.h"
#include "cli/text.h"
#include "common/child_process.h"
#include "common/file.h"
#include "common/json.h"
#include "common/sandbox.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

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

Finding CheckPython() {
  // Where workers look for it: the one named, else the first that has PyTorch.
  const char* named = std::getenv("WARPSMITH_PYTHON");
  const std::vector<std::string> pythons = named != nullptr && *named != 0
                                               ? std::vector<std::string>{named}
                                               : std::vector<std::string>{"python3", "/usr/bin/python3"};
  std::string why;
  for (const std::string& python : pythons) {
    auto version = FirstLine({python, "-c",
                              "import sys, torch; print('Python %d.%d with PyTorch %s (%s)' % (*sys.version_info[:2], "
                              "torch.__version__, 'CUDA' if torch.cuda.is_available() else 'CPU'))"},
                             60);
    if (version.ok()) return Ok("python", *version + " as " + python);
    if (why.empty()) why = fmt::format("{} cannot import torch: {}", python, Message(version.status()));
  }
  return Bad(
      "python", why,
      "install PyTorch (Debian: apt-get install python3-torch), or name a Python that has it in WARPSMITH_PYTHON");
}

Finding CheckNvrtc() {
  std::vector<std::string> names;
  if (const char* toolkit = std::getenv("WARPSMITH_CUDA_PATH"); toolkit != nullptr && *toolkit == '/') {
    names.push_back(std::string(toolkit) + "/lib64/libnvrtc.so");
  }
  names.insert(names.end(), {"/usr/local/cuda/lib64/libnvrtc.so", "/opt/cuda/lib64/libnvrtc.so", "libnvrtc.so.13",
                             "libnvrtc.so.12", "libnvrtc.so"});
  for (const std::string& name : names) {
    void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    int major = 0;
    int minor = 0;
    auto version = reinterpret_cast<int (*)(int*, int*)>(dlsym(library, "nvrtcVersion"));
    const bool good = version != nullptr && version(&major, &minor) == 0;
    dlclose(library);
    if (good) return Ok("nvrtc", fmt::format("{}.{} ({})", major, minor, name));
  }
  return Warn("nvrtc", "not found",
              "only the emulated device can be used; for GPUs install the CUDA toolkit's NVRTC, or name its folder in "
              "WARPSMITH_CUDA_PATH");
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

Finding CheckGpu() {
  const int gpus = CountGpus();
  if (gpus > 0) return Ok("gpu", fmt::format("{} NVIDIA device{}", gpus, gpus == 1 ? "" : "s"));
  return Warn("gpu", "none",
              "searches run on the emulated device: good for trying everything out, its times say nothing about a GPU");
}

Finding CheckPrograms() {
  std::string missing;
  for (const char* name :
       {"warpsmith-gateway", "warpsmith-coordinator", "warpsmith-worker", "warpsmith-executor", "warpsmith-compiler"}) {
    if (!FindProgram(name).ok()) missing.append(missing.empty() ? "" : ", ").append(name);
  }
  if (missing.empty()) return Ok("programs", "all there");
  return Bad("programs", "missing: " + missing,
             "build or install all of warpsmith, or name the folder of its programs in WARPSMITH_BIN_DIR");
}

}  // namespace

std::vector<Finding> Diagnose(const std::string& data_directory) {
  return {CheckPrograms(),     CheckPostgres(),
          CheckPython(),       CheckGpu(),
          CheckNvrtc(),        CheckCompiler(CountGpus() > 0),
          CheckSandbox(),      CheckSeccomp(),
          CheckSharedMemory(), CheckDisk(data_directory)};
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
  const std::vector<Finding> findings = Diagnose(context.data_directory);
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
    const Json json = {{"ok", !failed}, {"checks", list}};
    context.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    context.out << FindingsText(findings) << std::flush;
  }
  return failed ? kExitFailed : kExitOk;
}

}  // namespace warpsmith::cli
