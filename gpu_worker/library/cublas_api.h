// cuBLAS, loaded at run time. Only where its header was found at build time.
// Threading: Load is safe from any thread; the table is constant. Errors: NotFound with the remedy.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUBLAS_API_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUBLAS_API_H_

#include <cublas_v2.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::library {

struct CublasApi {
#define FUNCTION(name) decltype(&::name) name = nullptr;
#include "gpu_worker/library/cublas_functions.inc"
#undef FUNCTION
  // Overloaded in the header for C++, so their types are spelt out.
  cublasStatus_t (*cublasGemmEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                 const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                 cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
  cublasStatus_t (*cublasGemmStridedBatchedEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                               const void*, const void*, cudaDataType, int, long long, const void*,
                                               cudaDataType, int, long long, const void*, void*, cudaDataType, int,
                                               long long, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;

  // Once a process: later calls give the same table, whatever the arguments. `driver_major`: the newest CUDA that the
  // driver runs, 12 or 13.
  static absl::StatusOr<const CublasApi*> Load(const std::vector<std::string>& folders, int driver_major);
};

// ResourceExhausted for cuBLAS's "allocation failed", FailedPrecondition for "not supported", else Internal.
absl::Status CublasStatus(const CublasApi& api, cublasStatus_t result, std::string_view what);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUBLAS_API_H_
