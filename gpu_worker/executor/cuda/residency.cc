#include "gpu_worker/executor/cuda/residency.h"

namespace warpsmith::executor {

MaybeFault Residency::Load([[maybe_unused]] CUfunction function, [[maybe_unused]] const std::string& where) {
#if CUDA_VERSION >= 12040
  if (api_.cuFuncLoad != nullptr) {
    CUresult result = api_.cuFuncLoad(function);
    if (result != CUDA_ERROR_NOT_SUPPORTED) return CheckCuda(api_, result, where);
  }
#endif
  NeedFirstRun();
  return std::nullopt;
}

}  // namespace warpsmith::executor
