// The child's work with g++: a candidate to a shared object of the emulated device.
// Call it inside the sandbox only. Threading: one thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_HOST_JOB_H_
#define WARPSMITH_GPU_WORKER_COMPILE_HOST_JOB_H_

#include "common/status.h"
#include "gpu_worker/compile/compile.pb.h"

namespace warpsmith::compile {

// Descriptors that must be opened before the sandbox closes: g++'s standard input, and one file for its output.
struct HostStreams {
  int null = -1;
  int log = -1;  // in the work folder, readable and writable
};

// Writes into the job's work folder, which must be the current one.
wire::Report CompileForHost(const wire::Job& job, const HostStreams& streams);

// What a failed run of g++ means. `cpu_seconds` is what g++ and its stages took.
wire::Report ExplainHostFailure(const wire::Job& job, std::string_view log, double cpu_seconds);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_HOST_JOB_H_
