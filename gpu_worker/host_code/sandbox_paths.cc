#include "gpu_worker/host_code/sandbox_paths.h"

#include <fmt/format.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "common/file.h"
#include "common/json.h"
#include "common/run_child.h"
#include "gpu_worker/reference/python_locator.h"

namespace warpsmith::host_code {
namespace {

namespace fs = std::filesystem;

constexpr Duration kPythonDeadline = std::chrono::seconds(30);
// Not whole prefixes: one of them could be a person's home.
constexpr char kFolders[] = R"(
import json, os, sys
found = [entry for entry in sys.path if os.path.isdir(entry)]
for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
    found += [os.path.join(prefix, name) for name in ("bin", "lib", "lib64", "include", "pyvenv.cfg")]
found += [os.path.dirname(sys.executable), os.path.dirname(os.path.realpath(sys.executable))]
print(json.dumps(sorted({os.path.abspath(entry) for entry in found if os.path.exists(entry)})))
)";

constexpr const char* kReadable[] = {
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/opt/cuda", "/etc/ld.so.cache", "/dev/urandom", "/dev/random"};
// Of the machine: how many processors there are, and of the process itself.
constexpr const char* kReadableWithoutGpu[] = {"/proc/cpuinfo", "/proc/meminfo", "/proc/self",
                                               "/sys/devices/system/cpu"};
// The driver looks in many places, and keeps small files that processes share in the shared memory's folder. Never all
// of /proc or /dev: Landlock lets a process read its parent's environment, where keys may be, and root reads disks.
constexpr const char* kReadableWithGpu[] = {
    "/proc/cpuinfo", "/proc/meminfo",    "/proc/stat",   "/proc/devices", "/proc/modules",    "/proc/filesystems",
    "/proc/version", "/proc/loadavg",    "/proc/driver", "/proc/sys",     "/proc/self",       "/sys",
    "/dev/shm",      "/dev/nvidia-caps", "/etc/nvidia",  "/run/nvidia",   "/usr/local/nvidia"};
constexpr const char* kWritableWithGpu[] = {"/dev/shm", "/proc/self"};
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero"};
constexpr const char* kGpuDevices[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dxg"};

void AddIfThere(const std::string& path, std::vector<std::string>& paths) {
  std::error_code ignored;
  if (!path.empty() && fs::exists(path, ignored)) paths.push_back(path);
}

std::vector<std::string> FilesLike(const char* pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern, 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      if (!fs::is_directory(found.gl_pathv[i])) paths.emplace_back(found.gl_pathv[i]);
    }
  }
  globfree(&found);
  return paths;
}

std::string ToolkitFolder() {
  const char* set = std::getenv("WARPSMITH_CUDA_PATH");
  std::error_code ignored;
  for (const std::string& folder :
       {std::string(set != nullptr ? set : ""), std::string("/usr/local/cuda"), std::string("/opt/cuda")}) {
    if (!folder.empty() && fs::is_directory(folder, ignored)) return folder;
  }
  return "";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> PythonFolders(const std::string& python) {
  WARPSMITH_ASSIGN_OR_RETURN(const TemporaryDirectory home, TemporaryDirectory::Create("warpsmith-python-"));
  ChildOptions options;
  options.arguments = {python, "-I", "-c", kFolders};
  options.environment = reference::PythonEnvironment(home.path().string(), 1);
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit ended, RunChild(options, "", kPythonDeadline));
  const Json told = Json::parse(ended.standard_output, nullptr, false);
  if (!told.is_array()) {
    return FailedPrecondition(fmt::format("{} does not say where it imports from: {}", python, ended.Describe()));
  }
  std::vector<std::string> folders;
  for (const Json& entry : told) {
    if (entry.is_string() && entry.get<std::string>() != "/") folders.push_back(entry.get<std::string>());
  }
  return folders;
}

SandboxPaths MachinePaths(bool gpu, const std::vector<std::string>& python_folders) {
  SandboxPaths paths;
  for (const char* path : kReadable) AddIfThere(path, paths.read);
  AddIfThere(ToolkitFolder(), paths.read);
  for (const std::string& folder : python_folders) AddIfThere(folder, paths.read);
  for (const char* path : kDevices) AddIfThere(path, paths.data);
  if (!gpu) {
    for (const char* path : kReadableWithoutGpu) AddIfThere(path, paths.read);
    return paths;
  }
  for (const char* path : kReadableWithGpu) AddIfThere(path, paths.read);
  for (const char* path : kWritableWithGpu) AddIfThere(path, paths.write);
  for (const char* pattern : kGpuDevices) {
    for (const std::string& path : FilesLike(pattern)) paths.data.push_back(path);
  }
  return paths;
}

void AddFolders(const std::string& list, SandboxPaths& paths) {
  std::istringstream folders(list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.starts_with('/') && folder != "/") AddIfThere(folder, paths.read);
  }
}

std::map<std::string, std::string> HostCodeEnvironment(const std::string& python, const std::string& folder,
                                                       int threads) {
  std::map<std::string, std::string> environment = reference::PythonEnvironment(folder, threads);
  std::string path = fs::path(python).parent_path().string();
  const std::string toolkit = ToolkitFolder();
  if (!toolkit.empty()) {
    path += ":" + toolkit + "/bin";
    environment["CUDA_HOME"] = toolkit;
  }
  environment["PATH"] = path + ":/usr/local/bin:/usr/bin:/bin";
  environment["USER"] = "candidate";
  for (const char* name : {"TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH",
                           "XDG_CACHE_HOME", "MPLCONFIGDIR"}) {
    environment[name] = folder + "/cache";
  }
  return environment;
}

}  // namespace warpsmith::host_code
