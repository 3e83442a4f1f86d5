// CUDA's driver library, loaded at run time, so that one build serves machines with and without a GPU.
// Only where CUDA's headers were found at build time (cmake: WARPSMITH_CUDA_INCLUDE).
// Threading: Load is safe from any thread; the table is constant. Errors: NotFound where there is no driver, with what
// was tried; FailedPrecondition for a driver that lacks a function that the header has.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_DRIVER_API_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_DRIVER_API_H_

#include <cuda.h>

#include <string_view>

#include "common/status.h"

// cuda.h maps these names to the newest version of each by macros; the symbol that is loaded is the mapped one.
#define WARPSMITH_CUDA_DRIVER_FUNCTIONS(FUNCTION)                                                                     \
  FUNCTION(cuInit)                                                                                                    \
  FUNCTION(cuDriverGetVersion) FUNCTION(cuGetErrorName) FUNCTION(cuGetErrorString) FUNCTION(                          \
      cuDeviceGetCount) FUNCTION(cuDeviceGet) FUNCTION(cuDeviceGetName) FUNCTION(cuDeviceGetUuid)                     \
      FUNCTION(cuDeviceGetAttribute) FUNCTION(cuDeviceTotalMem) FUNCTION(cuDeviceGetPCIBusId) FUNCTION(               \
          cuDevicePrimaryCtxRetain) FUNCTION(cuDevicePrimaryCtxRelease) FUNCTION(cuDevicePrimaryCtxSetFlags)          \
          FUNCTION(cuCtxSetCurrent) FUNCTION(cuCtxGetCurrent) FUNCTION(cuCtxSynchronize) FUNCTION(                    \
              cuCtxSetLimit) FUNCTION(cuCtxGetLimit) FUNCTION(cuCtxResetPersistingL2Cache) FUNCTION(cuMemGetInfo)     \
              FUNCTION(cuMemAlloc) FUNCTION(cuMemFree) FUNCTION(cuMemsetD8Async) FUNCTION(cuMemsetD16Async) FUNCTION( \
                  cuMemsetD32Async) FUNCTION(cuMemcpyDtoDAsync) FUNCTION(cuMemcpyHtoD) FUNCTION(cuMemcpyDtoH)         \
                  FUNCTION(cuMemcpyDtoHAsync) FUNCTION(cuMemcpyHtoDAsync) FUNCTION(cuMemAllocHost)                    \
                      FUNCTION(cuMemFreeHost) FUNCTION(cuIpcGetMemHandle) FUNCTION(cuIpcOpenMemHandle) FUNCTION(      \
                          cuIpcCloseMemHandle) FUNCTION(cuModuleLoadData) FUNCTION(cuModuleLoadDataEx)                \
                          FUNCTION(cuModuleUnload) FUNCTION(cuModuleGetFunction) FUNCTION(cuFuncGetAttribute)         \
                              FUNCTION(cuFuncSetAttribute) FUNCTION(cuFuncGetParamInfo) FUNCTION(                     \
                                  cuOccupancyMaxActiveBlocksPerMultiprocessor) FUNCTION(cuOccupancyMaxActiveClusters) \
                                  FUNCTION(cuLaunchKernelEx) FUNCTION(cuLaunchKernel) FUNCTION(cuStreamCreate)        \
                                      FUNCTION(cuStreamDestroy) FUNCTION(cuStreamSynchronize) FUNCTION(cuStreamQuery) \
                                          FUNCTION(cuStreamBeginCapture) FUNCTION(cuStreamEndCapture)                 \
                                              FUNCTION(cuStreamIsCapturing) FUNCTION(cuGraphInstantiateWithFlags)     \
                                                  FUNCTION(cuGraphLaunch) FUNCTION(cuGraphUpload)                     \
                                                      FUNCTION(cuGraphDestroy) FUNCTION(cuGraphExecDestroy)           \
                                                          FUNCTION(cuGraphGetNodes) FUNCTION(cuEventCreate)           \
                                                              FUNCTION(cuEventDestroy) FUNCTION(cuEventRecord)        \
                                                                  FUNCTION(cuEventSynchronize) FUNCTION(cuEventQuery) \
                                                                      FUNCTION(cuEventElapsedTime)                    \
                                                                          FUNCTION(cuTensorMapEncodeTiled)

namespace warpsmith::cuda {

struct DriverApi {
#define WARPSMITH_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
  WARPSMITH_CUDA_DRIVER_FUNCTIONS(WARPSMITH_CUDA_MEMBER)
#undef WARPSMITH_CUDA_MEMBER

  // Once a process; later calls give the same answer.
  static absl::StatusOr<const DriverApi*> Load();
};

// OK, ResourceExhausted for CUDA's "out of memory", Unavailable where no device answers, else Internal:
// "cuMemAlloc of x: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
absl::Status CudaStatus(const DriverApi& api, CUresult result, std::string_view what);

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_DRIVER_API_H_
