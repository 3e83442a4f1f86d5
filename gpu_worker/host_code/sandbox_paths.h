// What a process of host code may reach: Python, PyTorch, the CUDA toolkit and the compilers to read and to run, a
// folder of its own to write to, and the buffers that it was given.
// Threading: safe from any thread. Errors: FailedPrecondition where the interpreter does not answer.
#ifndef WARPSMITH_GPU_WORKER_HOST_CODE_SANDBOX_PATHS_H_
#define WARPSMITH_GPU_WORKER_HOST_CODE_SANDBOX_PATHS_H_

#include <map>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith::host_code {

struct SandboxPaths {
  std::vector<std::string> read;   // and to run
  std::vector<std::string> write;  // folders
  std::vector<std::string> data;   // what is there already may be read and written: devices, buffers
};

// The folders that an interpreter imports from and its own, asked of it.
absl::StatusOr<std::vector<std::string>> PythonFolders(const std::string& python);

// Without the process's own folder and buffers.
SandboxPaths MachinePaths(bool gpu, const std::vector<std::string>& python_folders);

// What there is of a list of folders with colons between, to read.
void AddFolders(const std::string& list, SandboxPaths& paths);

// Nothing inherited. `folder` is its home, and where compiled extensions and caches go.
std::map<std::string, std::string> HostCodeEnvironment(const std::string& python, const std::string& folder,
                                                       int threads);

}  // namespace warpsmith::host_code

#endif  // WARPSMITH_GPU_WORKER_HOST_CODE_SANDBOX_PATHS_H_
