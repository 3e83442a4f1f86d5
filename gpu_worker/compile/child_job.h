// What the compiler child does with one job: loads what it needs, locks itself down, then looks at the code.
// Threading: the process must have one thread, and is of no use afterwards. Errors: in the report.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_CHILD_JOB_H_
#define WARPSMITH_GPU_WORKER_COMPILE_CHILD_JOB_H_

#include <string>
#include <string_view>

#include "common/status.h"
#include "gpu_worker/compile/compile.pb.h"

namespace warpsmith::compile {

wire::Report RunJob(const wire::Job& job);

// A message as the pipes carry it: four bytes "wsc1", the size as eight little-endian bytes, the message.
std::string Frame(const std::string& message);
absl::StatusOr<std::string> Unframe(std::string_view data);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_CHILD_JOB_H_
