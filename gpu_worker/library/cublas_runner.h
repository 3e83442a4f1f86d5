// Matrix products through cublasGemmEx and cublasGemmStridedBatchedEx. Sums are kept in float32 always: float32
// operands are multiplied as they are (fp32), or rounded to TF32, float16 or bfloat16 first, as the step's class says.
// Threading: one thread, with the GPU's context current. Errors: as LibraryRunner's.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUBLAS_RUNNER_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUBLAS_RUNNER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_worker/library/cublas_api.h"
#include "gpu_worker/library/device_buffer.h"
#include "gpu_worker/library/library_runner.h"

namespace warpsmith::library {

cudaDataType CudaTypeOf(DataType type);
cublasComputeType_t ComputeTypeOf(Compute compute, DataType input);
std::string_view Name(cublasComputeType_t type);

class CublasRunner {
 public:
  // cuBLAS's own default on Hopper; less makes some algorithms unavailable.
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  static absl::StatusOr<std::unique_ptr<CublasRunner>> Create(const cuda::DriverApi& driver,
                                                              const std::vector<std::string>& folders);
  ~CublasRunner();

  // Runs the product once into memory of its own, so that nothing is loaded or chosen later.
  absl::StatusOr<std::shared_ptr<PreparedCall>> Prepare(const GemmCall& call,
                                                        const std::map<std::string, CUdeviceptr>& addresses);
  absl::Status Enqueue(const GemmCall& call, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUstream stream);

 private:
  CublasRunner(const cuda::DriverApi& driver, const CublasApi& api) : driver_(driver), api_(api) {}

  const cuda::DriverApi& driver_;
  const CublasApi& api_;
  cublasHandle_t handle_ = nullptr;
  DeviceBuffer workspace_;
};

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUBLAS_RUNNER_H_
