#include "gpu_worker/profile/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>

namespace warpsmith::profile {
namespace {

// gVisor answers like the kernel that it imitates, with this build's date.
bool UnderGvisor() {
  char text[256] = {};
  if (std::FILE* file = std::fopen("/proc/version", "re")) {
    const size_t size = std::fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    std::fclose(file);
  }
  return std::string_view(text).find("Sun Jan 10 15:06:54 PST 2016") != std::string_view::npos;
}

const char* Remedy(CUptiResult result) {
  if (UnderGvisor()) {
    return "; this container runs under gVisor, which does not pass the profiling interface of the driver on: run the "
           "worker under runc to have profiles";
  }
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "; the driver lets only administrators read performance counters: load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0, or give the worker CAP_SYS_ADMIN (a container: --cap-add "
             "SYS_ADMIN)";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "; enable profiling for this virtual GPU on its host (enable_profiling=1)";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "; another profiler holds the counters: stop DCGM's profiling module (dcgmi profile --pause), Nsight or "
             "another profiler on this GPU";
    default:
      return "";
  }
}

}  // namespace

absl::StatusOr<CuptiApi> CuptiApi::Load(const std::vector<std::string>& paths) {
  std::string tried;
  for (const std::string& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tried += fmt::format("; {}", dlerror());
      continue;
    }
    CuptiApi api;
    const char* missing = nullptr;
#define FUNCTION(name)                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr) missing = #name;
#include "gpu_worker/profile/cupti_functions.inc"
#undef FUNCTION
    if (missing == nullptr) return api;
    tried += fmt::format("; {} has no {}: CUDA 12.6 or later is needed", path, missing);
  }
  return NotFound(
      fmt::format("no usable CUPTI (libcupti.so.13 or .12) in the CUDA toolkit's folders or Python's nvidia packages; "
                  "install the CUDA toolkit, or pip's nvidia-cuda-cupti{}",
                  tried));
}

absl::Status CuptiStatus(const CuptiApi& api, CUptiResult result, std::string_view what) {
  if (result == CUPTI_SUCCESS) return absl::OkStatus();
  const char* text = nullptr;
  api.cuptiGetResultString(result, &text);
  std::string message = fmt::format("{}: {} ({}){}", what, text == nullptr ? "unknown error" : text,
                                    static_cast<int>(result), Remedy(result));
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_INITIALIZED:
      return FailedPrecondition(message);
    default:
      return Internal(message);
  }
}

}  // namespace warpsmith::profile
