// CUPTI, loaded at run time. Only where CUDA's headers were found at build time.
// Threading: the table is constant once loaded. Errors: NotFound with what was tried; what CUPTI refuses is told with
// the remedy for people.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_CUPTI_API_H_
#define WARPSMITH_GPU_WORKER_PROFILE_CUPTI_API_H_

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::profile {

struct CuptiApi {
#define FUNCTION(name) decltype(&::name) name = nullptr;
#include "gpu_worker/profile/cupti_functions.inc"
#undef FUNCTION

  // The first of `paths` that loads and has all of the functions; stays loaded until the process ends.
  static absl::StatusOr<CuptiApi> Load(const std::vector<std::string>& paths);
};

// OK, or the error with its remedy: FailedPrecondition where counters are not permitted or not to be had here, else
// Internal.
absl::Status CuptiStatus(const CuptiApi& api, CUptiResult result, std::string_view what);

// A parameter block as CUPTI wants it: zeros and its size.
template <typename Params>
Params MakeParams(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define WARPSMITH_CUPTI_PARAMS(type) ::warpsmith::profile::MakeParams<type>(type##_STRUCT_SIZE)

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_CUPTI_API_H_
