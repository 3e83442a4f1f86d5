#include "gpu_worker/executor/cuda/sandbox.h"

#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "gpu_worker/library/shared_library.h"

namespace warpsmith::executor {
namespace {

constexpr const char* kReadable[] = {
    "/dev",        "/proc",      "/sys", "/usr", "/lib", "/lib32", "/lib64", "/opt", "/etc/ld.so.cache",
    "/etc/nvidia", "/run/nvidia"};
constexpr const char* kDevices[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dxg", "/dev/null", "/dev/zero"};
// CUDA keeps small files that processes share in the first, and sets up its own threads in the second (seen with driver
// 580: without it cuInit ends with CUDA_ERROR_OPERATING_SYSTEM).
constexpr const char* kWritable[] = {"/dev/shm", "/proc/self"};

void AddIfThere(const std::string& path, std::vector<std::string>& paths) {
  std::error_code ignored;
  if (!path.empty() && std::filesystem::exists(path, ignored)) paths.push_back(path);
}

std::vector<std::string> Matching(const char* pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern, 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

}  // namespace

SandboxOptions DriverSandbox(const std::vector<std::string>& library_folders, const std::string& library_path) {
  SandboxOptions options;
  options.syscalls = SyscallPolicy::kDevice;
  options.open_files = 0;  // the driver opens some for each context and library
  for (const char* path : kReadable) AddIfThere(path, options.read_paths);
  for (const std::string& folder : library_folders) AddIfThere(folder, options.read_paths);
  std::istringstream folders(library_path);
  for (std::string folder; std::getline(folders, folder, ':');) AddIfThere(folder, options.read_paths);
  for (const char* pattern : kDevices) {
    for (const std::string& path : Matching(pattern)) {
      if (!std::filesystem::is_directory(path)) options.device_paths.push_back(path);
    }
  }
  for (const char* path : kWritable) AddIfThere(path, options.write_paths);
  return options;
}

std::string RestrictDriverFiles(const std::vector<std::string>& library_folders) {
  std::vector<std::string> folders = library::FindLibraryFolders();
  folders.insert(folders.end(), library_folders.begin(), library_folders.end());
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  return Message(RestrictFiles(DriverSandbox(folders, library_path == nullptr ? "" : library_path)));
}

std::string RestrictDriverCalls() { return Message(RestrictCalls(DriverSandbox({}, ""))); }

}  // namespace warpsmith::executor
