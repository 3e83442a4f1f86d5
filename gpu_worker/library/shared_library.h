// Finds and loads NVIDIA's shared libraries where toolkits, distributions and Python wheels put them.
// Threading: safe from any thread; a library stays loaded for the process's life.
// Errors: NotFound with the names and the places that were tried, the loader's own words and the remedy.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_SHARED_LIBRARY_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_SHARED_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::library {

// Folders that hold cuBLAS or cuDNN, best first: WARPSMITH_CUDA_PATH's, LD_LIBRARY_PATH's, /usr/local/cuda and
// /opt/cuda, then nvidia/*/lib of the Python environments that PATH, VIRTUAL_ENV and CONDA_PREFIX name and of the
// system's. A sandboxed process needs leave to read them.
std::vector<std::string> FindLibraryFolders();
// nvidia/*/lib below `root`/lib/python3*/{site,dist}-packages.
std::vector<std::string> WheelFolders(const std::string& root);

struct SharedLibraryRequest {
  std::string_view title;              // "cuBLAS"
  std::vector<std::string> names;      // "libcublas.so.13", "libcublas.so.12": the first that loads
  std::vector<std::string> preloaded;  // beside it, before it, where they are there; "{}" stands for its version
  std::string_view remedy;
};

// The handle of dlopen.
absl::StatusOr<void*> LoadSharedLibrary(const SharedLibraryRequest& request, const std::vector<std::string>& folders);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_SHARED_LIBRARY_H_
