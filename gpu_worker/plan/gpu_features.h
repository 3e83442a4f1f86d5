// What in a candidate's code only a GPU can do, so that the emulated device answers needs_gpu instead of failing.
// Words in comments and strings do not count.
// Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_PLAN_GPU_FEATURES_H_
#define WARPSMITH_GPU_WORKER_PLAN_GPU_FEATURES_H_

#include <optional>
#include <string>
#include <string_view>

namespace warpsmith::plan {

// "inline assembly", "WMMA (mma.h)", "asynchronous copies", "TMA", "thread block clusters", ...; nullopt: nothing.
std::optional<std::string> NeedsGpuFeature(std::string_view code);

bool UsesInlineAssembly(std::string_view code);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_GPU_FEATURES_H_
