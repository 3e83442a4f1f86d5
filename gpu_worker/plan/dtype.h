// Element types by PyTorch's names without "torch.". Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_PLAN_DTYPE_H_
#define WARPSMITH_GPU_WORKER_PLAN_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpsmith::plan {

// Bytes of one element; nullopt for a name that is not known.
std::optional<int64_t> DtypeBytes(std::string_view dtype);

// The names, for messages.
std::string_view KnownDtypes();

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_DTYPE_H_
