// Convolution forward through cuDNN's cudnnConvolutionForward. Of the algorithms that cuDNN proposes for the shape,
// each that fits the workspace runs a few times; the fastest is taken, an earlier proposal where the gain is under 3 %.
// Threading: one thread, with the GPU's context current. Errors: as LibraryRunner's.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_CONVOLUTION_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_CONVOLUTION_H_

#include <map>
#include <memory>
#include <string>

#include "gpu_worker/library/cudnn_runner.h"

namespace warpsmith::library {

// `runner` outlives the call.
absl::StatusOr<std::shared_ptr<PreparedCall>> PrepareConvolution(CudnnRunner* runner, const ConvolutionCall& call,
                                                                 const std::map<std::string, CUdeviceptr>& addresses);

// How cuDNN may multiply at this class.
cudnnMathType_t MathTypeOf(Compute compute, DataType type);

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_CUDNN_CONVOLUTION_H_
