// A kernel's name as a plan writes it becomes part of generated source, so it must be a name and nothing else:
// a possibly qualified identifier, or a template instance whose arguments are integers, true, false and types.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_KERNEL_NAME_H_
#define WARPSMITH_GPU_WORKER_COMPILE_KERNEL_NAME_H_

#include <string_view>

#include "common/status.h"

namespace warpsmith::compile {

// InvalidArgument says what is wrong with the name.
absl::Status CheckKernelName(std::string_view name);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_KERNEL_NAME_H_
