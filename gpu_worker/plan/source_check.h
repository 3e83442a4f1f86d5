// What a candidate's file may be: size, encoding, the plan comment, includes, directives, macros that only a host's
// compiler has. A first sieve with clear messages; the sandbox around the compiler is what holds against tricks.
// Threading: pure functions. Errors: plan errors (plan_error.h) that name the line.
#ifndef WARPSMITH_GPU_WORKER_PLAN_SOURCE_CHECK_H_
#define WARPSMITH_GPU_WORKER_PLAN_SOURCE_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::plan {

inline constexpr size_t kMaxFileBytes = 1u << 20;

struct CheckedSource {
  std::string code;                   // the whole file, byte order mark dropped: lines are the file's own
  std::string plan_json;              // the plan comment's JSON value
  int plan_line = 1;                  // where it starts
  std::vector<std::string> includes;  // distinct, in order
};

absl::StatusOr<CheckedSource> CheckSource(std::string_view file);

// Whether a header may be included ("cuda_fp16.h", "cuda/std/array").
bool IsAllowedHeader(std::string_view name);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_SOURCE_CHECK_H_
