// The child's work with NVRTC: source to cubins, kernel interfaces and the checks on the compiled module.
// Call it inside the sandbox only. Threading: one thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_NVRTC_JOB_H_
#define WARPSMITH_GPU_WORKER_COMPILE_NVRTC_JOB_H_

#include "gpu_worker/compile/compile.pb.h"
#include "gpu_worker/compile/nvrtc_api.h"

namespace warpsmith::compile {

// Every architecture of the job must take the source, or any of them where the job says so. What is wrong with the
// source is in the report. At least one architecture must be given.
wire::Report CompileWithNvrtc(const wire::Job& job, NvrtcApi& nvrtc);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_NVRTC_JOB_H_
