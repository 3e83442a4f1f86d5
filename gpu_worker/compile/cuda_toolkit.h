// Where NVRTC and CUDA's headers lie: WARPSMITH_CUDA_PATH (a toolkit's folder, or "none" to do without), then
// /usr/local/cuda, /opt/cuda, the loader's own folders, and NVIDIA's Python wheels in the environment that VIRTUAL_ENV,
// CONDA_PREFIX, WARPSMITH_PYTHON or PATH names or in the system's.
// Threading: safe from any thread. Errors: none; a machine without a toolkit is an empty result.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_CUDA_TOOLKIT_H_
#define WARPSMITH_GPU_WORKER_COMPILE_CUDA_TOOLKIT_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpsmith::compile {

struct CudaToolkit {
  std::filesystem::path nvrtc;     // the library's file
  std::filesystem::path builtins;  // empty where there is none beside it
  std::vector<std::string> include_folders;
};

std::optional<CudaToolkit> FindCudaToolkit();

// Looks in one toolkit folder only (lib64, lib, targets/*/lib; include).
std::optional<CudaToolkit> ToolkitIn(const std::filesystem::path& folder);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_CUDA_TOOLKIT_H_
