// Locks an executor child down around a GPU's driver, which starts threads and needs devices, libraries and its own
// memory files. A candidate is device code and has nothing to call the kernel with: this is the wall behind that wall.
// So a kernel that lacks Landlock or seccomp, as container sandboxes may, is told and put up with. Threading:
// RestrictDriverFiles before the driver is loaded, RestrictDriverCalls once everything is.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_SANDBOX_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_SANDBOX_H_

#include <string>
#include <vector>

#include "common/sandbox.h"

namespace warpsmith::executor {

// What the driver and its libraries may read, write and control, as far as it exists here. `library_folders` and the
// folders of `library_path` (as LD_LIBRARY_PATH) are readable too.
SandboxOptions DriverSandbox(const std::vector<std::string>& library_folders, const std::string& library_path);

// Empty, or what could not be had.
std::string RestrictDriverFiles(const std::vector<std::string>& library_folders);
std::string RestrictDriverCalls();

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_SANDBOX_H_
