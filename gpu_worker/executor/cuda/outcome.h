// What a CUDA error means for the candidate.
// Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_OUTCOME_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_OUTCOME_H_

#include <optional>
#include <string>

#include "gpu_worker/device/cuda/driver_api.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::executor {

// ILLEGAL_ACCESS, OUT_OF_MEMORY, INFRA_ERROR (the device or its driver is at fault) or LAUNCH_ERROR.
v1::Outcome OutcomeOf(CUresult result);

struct CudaFault {
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string where;  // "step 2 (kernel f)"
  std::string message;
};
using MaybeFault = std::optional<CudaFault>;

// None where `result` is success.
MaybeFault CheckCuda(const cuda::DriverApi& api, CUresult result, std::string where);
// Of a status that CudaStatus or a library made.
CudaFault FaultOf(const absl::Status& status, std::string where);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_OUTCOME_H_
