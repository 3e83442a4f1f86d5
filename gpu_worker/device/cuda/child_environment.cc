#include "gpu_worker/device/cuda/child_environment.h"

#include <cstdlib>

namespace warpsmith::cuda {

std::map<std::string, std::string> ChildEnvironment(const std::string& gpu_uuid) {
  std::map<std::string, std::string> environment = {
      {"CUDA_VISIBLE_DEVICES", gpu_uuid},
      {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
      // cuBLAS and cuDNN hold thousands of kernels: loading all of them takes seconds. What a plan uses is put on the
      // device before anything is timed (executor/cuda/residency.h), so nothing is loaded in a measurement either way.
      {"CUDA_MODULE_LOADING", "LAZY"},
      // A context with one hardware queue is made in half the time, and a plan runs on one stream.
      {"CUDA_DEVICE_MAX_CONNECTIONS", "1"},
      {"CUDA_DEVICE_MAX_COPY_CONNECTIONS", "1"},
      // Nothing that a candidate compiles is kept.
      {"CUDA_CACHE_DISABLE", "1"},
  };
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr && *path != '\0') {
    environment["LD_LIBRARY_PATH"] = path;
  }
  return environment;
}

}  // namespace warpsmith::cuda
