// An executor's spec on its way to the child.
// Threading: pure, apart from reading the artifact. Units: bytes. Errors: InvalidArgument names the buffer.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_SPEC_MESSAGE_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_SPEC_MESSAGE_H_

#include <string>

#include "gpu_worker/executor/executor.h"

namespace warpsmith::executor {

// Every slot has memory of the right kind and size for every buffer of the plan.
absl::Status CheckSpec(const ExecutorSpec& spec, bool cuda);
// A wire::Spec. With `cuda` it holds the artifact itself: the child has no files open to it by then.
absl::StatusOr<std::string> EncodeSpec(const ExecutorSpec& spec, const std::string& nonce, bool cuda);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_SPEC_MESSAGE_H_
