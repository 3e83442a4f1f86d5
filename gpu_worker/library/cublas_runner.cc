#include "gpu_worker/library/cublas_runner.h"

#include <fmt/format.h>

namespace warpsmith::library {
namespace {

class PreparedGemm : public PreparedCall {
 public:
  PreparedGemm(CublasRunner* runner, const GemmCall& call) : runner_(runner), call_(call) {}
  absl::Status Enqueue(const std::map<std::string, CUdeviceptr>& addresses, CUstream stream) override {
    return runner_->Enqueue(call_, addresses.at("A"), addresses.at("B"), addresses.at("C"), stream);
  }
  std::string Describe() const override {
    return fmt::format("{} {}x{}x{}{} {} by {}", call_.batched ? "gemm_strided_batched" : "gemm", call_.m, call_.n,
                       call_.k, call_.batched ? fmt::format(" {} times", call_.batch) : "", Name(call_.input),
                       Name(ComputeTypeOf(call_.compute, call_.input)));
  }

 private:
  CublasRunner* runner_;
  GemmCall call_;
};

const void* Address(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }

}  // namespace

cudaDataType CudaTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return CUDA_R_32F;
    case DataType::kFloat16:
      return CUDA_R_16F;
    case DataType::kBfloat16:
      return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

cublasComputeType_t ComputeTypeOf(Compute compute, DataType input) {
  // Half-precision operands are what they are; only float32 ones may be rounded on the way.
  if (input != DataType::kFloat32) return CUBLAS_COMPUTE_32F;
  switch (compute) {
    case Compute::kFp32:
      return CUBLAS_COMPUTE_32F;
    case Compute::kTf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Compute::kFp16:
      return CUBLAS_COMPUTE_32F_FAST_16F;
    case Compute::kBf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
  }
  return CUBLAS_COMPUTE_32F;
}

std::string_view Name(cublasComputeType_t type) {
  switch (type) {
    case CUBLAS_COMPUTE_32F:
      return "CUBLAS_COMPUTE_32F";
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return "CUBLAS_COMPUTE_32F_FAST_TF32";
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return "CUBLAS_COMPUTE_32F_FAST_16F";
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return "CUBLAS_COMPUTE_32F_FAST_16BF";
    default:
      return "another compute type";
  }
}

absl::StatusOr<std::unique_ptr<CublasRunner>> CublasRunner::Create(const cuda::DriverApi& driver,
                                                                   const std::vector<std::string>& folders) {
  int driver_version = 0;
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(driver, driver.cuDriverGetVersion(&driver_version), "the driver's version"));
  WARPSMITH_ASSIGN_OR_RETURN(const CublasApi* api, CublasApi::Load(folders, driver_version / 1000));
  std::unique_ptr<CublasRunner> runner(new CublasRunner(driver, *api));
  WARPSMITH_RETURN_IF_ERROR(CublasStatus(*api, api->cublasCreate(&runner->handle_), "making cuBLAS's handle"));
  WARPSMITH_RETURN_IF_ERROR(CublasStatus(*api, api->cublasSetPointerMode(runner->handle_, CUBLAS_POINTER_MODE_HOST),
                                         "cuBLAS's pointer mode"));
  const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  WARPSMITH_RETURN_IF_ERROR(CublasStatus(*api, api->cublasSetMathMode(runner->handle_, mode), "cuBLAS's math mode"));
  WARPSMITH_ASSIGN_OR_RETURN(runner->workspace_,
                             DeviceBuffer::Allocate(driver, kWorkspaceBytes, "cuBLAS's workspace of 32 MiB"));
  return runner;
}

CublasRunner::~CublasRunner() {
  if (handle_ != nullptr) api_.cublasDestroy(handle_);
}

absl::StatusOr<std::shared_ptr<PreparedCall>> CublasRunner::Prepare(
    const GemmCall& call, const std::map<std::string, CUdeviceptr>& addresses) {
  const size_t bytes = static_cast<size_t>(call.c_extent * ElementBytes(call.output));
  // Where memory is short the first run is the captured one; cuBLAS allows that.
  if (auto target = DeviceBuffer::Allocate(driver_, bytes, "a trial target"); target.ok()) {
    CUstream stream = nullptr;
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(driver_, driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
                                               "a stream for the first run of a library step"));
    absl::Status status = Enqueue(call, addresses.at("A"), addresses.at("B"), target->address(), stream);
    const CUresult end = driver_.cuStreamSynchronize(stream);
    driver_.cuStreamDestroy(stream);
    WARPSMITH_RETURN_IF_ERROR(status);
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(driver_, end, "the first run of a gemm"));
  }
  return std::make_shared<PreparedGemm>(this, call);
}

absl::Status CublasRunner::Enqueue(const GemmCall& call, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUstream stream) {
  // Setting the stream gives up the workspace, so both are set together.
  WARPSMITH_RETURN_IF_ERROR(CublasStatus(api_, api_.cublasSetStream(handle_, stream), "cuBLAS's stream"));
  WARPSMITH_RETURN_IF_ERROR(CublasStatus(
      api_, api_.cublasSetWorkspace(handle_, workspace_.pointer(), workspace_.bytes()), "cuBLAS's workspace"));
  const cublasOperation_t transa = call.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t transb = call.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cudaDataType input = CudaTypeOf(call.input), output = CudaTypeOf(call.output);
  const cublasComputeType_t compute = ComputeTypeOf(call.compute, call.input);
  void* target = reinterpret_cast<void*>(c);
  if (call.batched) {
    return CublasStatus(api_,
                        api_.cublasGemmStridedBatchedEx(handle_, transa, transb, call.m, call.n, call.k, &call.alpha,
                                                        Address(a), input, call.lda, call.stride_a, Address(b), input,
                                                        call.ldb, call.stride_b, &call.beta, target, output, call.ldc,
                                                        call.stride_c, call.batch, compute, CUBLAS_GEMM_DEFAULT),
                        "gemm_strided_batched");
  }
  return CublasStatus(api_,
                      api_.cublasGemmEx(handle_, transa, transb, call.m, call.n, call.k, &call.alpha, Address(a), input,
                                        call.lda, Address(b), input, call.ldb, &call.beta, target, output, call.ldc,
                                        compute, CUBLAS_GEMM_DEFAULT),
                      "gemm");
}

}  // namespace warpsmith::library
