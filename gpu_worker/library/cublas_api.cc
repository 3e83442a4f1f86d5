#include "gpu_worker/library/cublas_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "gpu_worker/library/shared_library.h"

namespace warpsmith::library {
namespace {

#define WARPSMITH_TEXT(name) #name
#define WARPSMITH_SYMBOL(name) WARPSMITH_TEXT(name)

absl::StatusOr<CublasApi> LoadTable(const std::vector<std::string>& folders, int driver_major) {
  SharedLibraryRequest request;
  request.title = "cuBLAS";
  if (driver_major >= 13) request.names.emplace_back("libcublas.so.13");
  request.names.emplace_back("libcublas.so.12");
  request.preloaded = {"libcublasLt.so{}"};
  request.remedy = "install CUDA's cuBLAS for this driver, or name the toolkit's folder in WARPSMITH_CUDA_PATH";
  WARPSMITH_ASSIGN_OR_RETURN(void* library, LoadSharedLibrary(request, folders));
  CublasApi api;
  const char* missing = nullptr;
#define FUNCTION(name)                                                                     \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, WARPSMITH_SYMBOL(name))); \
  if (api.name == nullptr) missing = WARPSMITH_SYMBOL(name);
#include "gpu_worker/library/cublas_functions.inc"
  FUNCTION(cublasGemmEx)
  FUNCTION(cublasGemmStridedBatchedEx)
#undef FUNCTION
  if (missing != nullptr) return NotFound(fmt::format("cuBLAS has no {}: install CUDA 12 or 13", missing));
  return api;
}

}  // namespace

absl::StatusOr<const CublasApi*> CublasApi::Load(const std::vector<std::string>& folders, int driver_major) {
  static const absl::StatusOr<CublasApi> kTable = LoadTable(folders, driver_major);
  if (!kTable.ok()) return kTable.status();
  return &*kTable;
}

absl::Status CublasStatus(const CublasApi& api, cublasStatus_t result, std::string_view what) {
  if (result == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const char* text = api.cublasGetStatusString(result);
  const std::string message =
      fmt::format("{}: cuBLAS error {}: {}", what, static_cast<int>(result), text == nullptr ? "no description" : text);
  if (result == CUBLAS_STATUS_ALLOC_FAILED) return ResourceExhausted(message);
  if (result == CUBLAS_STATUS_NOT_SUPPORTED || result == CUBLAS_STATUS_ARCH_MISMATCH)
    return FailedPrecondition(message);
  return Internal(message);
}

}  // namespace warpsmith::library
