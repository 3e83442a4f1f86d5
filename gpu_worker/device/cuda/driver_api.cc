#include "gpu_worker/device/cuda/driver_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <iterator>
#include <string>

namespace warpsmith::cuda {
namespace {

#define WARPSMITH_TEXT(name) #name
#define WARPSMITH_SYMBOL(name) WARPSMITH_TEXT(name)

// Where container runtimes and distributions put the driver when the loader's own paths do not have it.
constexpr const char* kPlaces[] = {"libcuda.so.1",
                                   "/usr/local/nvidia/lib64/libcuda.so.1",
                                   "/usr/local/nvidia/lib/libcuda.so.1",
                                   "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                   "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1",
                                   "/usr/lib64/libcuda.so.1",
                                   "/usr/lib/wsl/lib/libcuda.so.1"};

absl::StatusOr<DriverApi> LoadTable() {
  void* library = nullptr;
  for (const char* place : kPlaces) {
    library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return NotFound(
        fmt::format("no NVIDIA driver: libcuda.so.1 is in none of the {} places that were tried; install the driver, "
                    "or run the container with its GPU runtime",
                    std::size(kPlaces)));
  }
  DriverApi api;
  const char* missing = nullptr;
#define FUNCTION(name)                                                                     \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, WARPSMITH_SYMBOL(name))); \
  if (api.name == nullptr) missing = WARPSMITH_SYMBOL(name);
#include "gpu_worker/device/cuda/driver_functions.inc"
#undef FUNCTION
#define FUNCTION(name) api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, WARPSMITH_SYMBOL(name)));
#include "gpu_worker/device/cuda/optional_driver_functions.inc"
#undef FUNCTION
  if (missing != nullptr) {
    return FailedPrecondition(fmt::format(
        "the NVIDIA driver has no {}; it is older than the CUDA headers of this build, so update the driver", missing));
  }
  return api;
}

}  // namespace

absl::StatusOr<const DriverApi*> DriverApi::Load() {
  static const absl::StatusOr<DriverApi> kTable = LoadTable();
  if (!kTable.ok()) return kTable.status();
  return &*kTable;
}

std::string UuidText(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

absl::Status CudaStatus(const DriverApi& api, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  api.cuGetErrorName(result, &name);
  api.cuGetErrorString(result, &text);
  std::string message = fmt::format("{}: {} ({}): {}", what, name == nullptr ? "unknown error" : name,
                                    static_cast<int>(result), text == nullptr ? "no description" : text);
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return ResourceExhausted(message);
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return Unavailable(message);
    default:
      return Internal(message);
  }
}

}  // namespace warpsmith::cuda
