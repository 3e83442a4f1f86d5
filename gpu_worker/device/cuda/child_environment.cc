#include "gpu_worker/device/cuda/child_environment.h"

#include <cstdlib>

namespace warpsmith::cuda {

std::map<std::string, std::string> ChildEnvironment(const std::string& gpu_uuid) {
  std::map<std::string, std::string> environment = {
      {"CUDA_VISIBLE_DEVICES", gpu_uuid},
      {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
      // Nothing is loaded in the middle of a measurement, and nothing that a candidate compiles is kept.
      {"CUDA_MODULE_LOADING", "EAGER"},
      {"CUDA_CACHE_DISABLE", "1"},
  };
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr && *path != '\0') {
    environment["LD_LIBRARY_PATH"] = path;
  }
  return environment;
}

}  // namespace warpsmith::cuda
