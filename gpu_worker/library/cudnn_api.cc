#include "gpu_worker/library/cudnn_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu_worker/library/shared_library.h"

namespace warpsmith::library {
namespace {

absl::StatusOr<CudnnApi> LoadTable(const std::vector<std::string>& folders) {
  SharedLibraryRequest request;
  request.title = "cuDNN";
  request.names = {"libcudnn.so.9"};
  request.remedy = "install cuDNN 9, or name the folder that has it in LD_LIBRARY_PATH";
  WARPSMITH_ASSIGN_OR_RETURN(void* library, LoadSharedLibrary(request, folders));
  CudnnApi api;
  const char* missing = nullptr;
#define FUNCTION(name)                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr) missing = #name;
#include "gpu_worker/library/cudnn_functions.inc"
#undef FUNCTION
  if (missing != nullptr) {
    return NotFound(fmt::format("cuDNN has no {}: its parts are missing or of another version", missing));
  }
  api.version = static_cast<int>(api.cudnnGetVersion());
  return api;
}

}  // namespace

absl::StatusOr<const CudnnApi*> CudnnApi::Load(const std::vector<std::string>& folders) {
  static const absl::StatusOr<CudnnApi> kTable = LoadTable(folders);
  if (!kTable.ok()) return kTable.status();
  return &*kTable;
}

absl::Status CudnnStatus(const CudnnApi& api, cudnnStatus_t result, std::string_view what) {
  if (result == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  std::array<char, 512> last{};
  api.cudnnGetLastErrorString(last.data(), last.size());
  last.back() = '\0';
  std::string detail(last.data());
  std::replace(detail.begin(), detail.end(), '\n', ' ');
  const std::string message =
      fmt::format("{}: cuDNN {} error {}: {}{}{}", what, CudnnVersionText(api.version), static_cast<int>(result),
                  api.cudnnGetErrorString(result), detail.empty() ? "" : ": ", detail);
  const int family = static_cast<int>(result) / 1000;
  if (result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) return ResourceExhausted(message);
  if (family == 3) return FailedPrecondition(message);
  return Internal(message);
}

std::string CudnnVersionText(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace warpsmith::library
