// What is wrong with a candidate's file or plan: a status with a machine-readable reason beside the message for people.
// The message names the field's path ("steps[1].args[2].offset") or the line of the file, and the remedy.
// Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_PLAN_PLAN_ERROR_H_
#define WARPSMITH_GPU_WORKER_PLAN_PLAN_ERROR_H_

#include <string>
#include <string_view>

#include "common/status.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::plan {

namespace reason {
inline constexpr char kEncoding[] = "encoding";             // size, UTF-8, NUL, newlines, trigraphs
inline constexpr char kPlanComment[] = "plan_comment";      // missing, not first, more than one
inline constexpr char kJson[] = "json";                     // not RFC 8259, duplicate keys, too deep, too large
inline constexpr char kField[] = "field";                   // unknown, missing or wrongly typed field
inline constexpr char kInclude[] = "include";               // a header that is not allowed, or a probe for files
inline constexpr char kDirective[] = "directive";           // a preprocessor directive that is not allowed
inline constexpr char kHostMacro[] = "host_macro";          // tells the host's compiler from NVRTC
inline constexpr char kOptions[] = "options";               // a compiler option that is not allowed
inline constexpr char kMinArch[] = "min_arch";              // syntax, or above the device
inline constexpr char kNames[] = "names";                   // unknown or repeated names, outputs that nothing writes
inline constexpr char kArguments[] = "arguments";           // do not match the compiled kernel
inline constexpr char kRange[] = "range";                   // an expression, literal or view outside its range
inline constexpr char kLimits[] = "limits";                 // above what the device or a plan may have
inline constexpr char kModuleState[] = "module_state";      // writable module variables
inline constexpr char kFrozenWeights[] = "frozen_weights";  // prepare where it is not allowed or not as allowed
inline constexpr char kOutOfMemory[] = "out_of_memory";     // its outcome is out_of_memory, not plan_error
}  // namespace reason

// InvalidArgument (ResourceExhausted for out_of_memory) that carries `reason`.
absl::Status PlanError(std::string_view reason, std::string_view message);

// The same reason and code with `prefix` and ": " before the message.
absl::Status AnnotatePlanError(const absl::Status& status, std::string_view prefix);

// Empty where `status` is no plan error (then it is ours: infra_error).
std::string PlanErrorReason(const absl::Status& status);

// plan_error, out_of_memory, or infra_error for a status without a reason.
v1::Outcome PlanErrorOutcome(const absl::Status& status);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_PLAN_ERROR_H_
