#include "gpu_worker/executor/cuda/outcome.h"

#include <fmt/format.h>

namespace warpsmith::executor {

v1::Outcome OutcomeOf(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
      return v1::OUTCOME_ILLEGAL_ACCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return v1::OUTCOME_OUT_OF_MEMORY;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_UNKNOWN:
      return v1::OUTCOME_INFRA_ERROR;
    default:
      return v1::OUTCOME_LAUNCH_ERROR;
  }
}

MaybeFault CheckCuda(const cuda::DriverApi& api, CUresult result, std::string where) {
  if (result == CUDA_SUCCESS) return std::nullopt;
  const char* name = nullptr;
  const char* text = nullptr;
  api.cuGetErrorName(result, &name);
  api.cuGetErrorString(result, &text);
  return CudaFault{OutcomeOf(result), std::move(where),
                   fmt::format("{} ({}): {}", name == nullptr ? "unknown error" : name, static_cast<int>(result),
                               text == nullptr ? "no description" : text)};
}

CudaFault FaultOf(const absl::Status& status, std::string where) {
  v1::Outcome outcome = v1::OUTCOME_LAUNCH_ERROR;
  if (status.code() == absl::StatusCode::kResourceExhausted) outcome = v1::OUTCOME_OUT_OF_MEMORY;
  // NotFound: cuBLAS or cuDNN, which the machine should have.
  if (status.code() == absl::StatusCode::kUnavailable || status.code() == absl::StatusCode::kNotFound) {
    outcome = v1::OUTCOME_INFRA_ERROR;
  }
  return {outcome, std::move(where), Message(status)};
}

}  // namespace warpsmith::executor
