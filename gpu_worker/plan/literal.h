// A literal's bytes as a kernel's parameter holds them. Threading: pure functions.
// Errors: plan errors with reason range.
#ifndef WARPSMITH_GPU_WORKER_PLAN_LITERAL_H_
#define WARPSMITH_GPU_WORKER_PLAN_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "gpu_worker/plan/plan.h"

namespace warpsmith::plan {

// "bool" to "f64".
std::optional<LiteralType> LiteralTypeNamed(std::string_view name);
std::string_view LiteralTypeName(LiteralType type);
int64_t LiteralBytes(LiteralType type);
bool IsFloatingPoint(LiteralType type);

// Little-endian. A value outside the type's range is an error; floating point rounds to nearest even.
absl::StatusOr<std::string> EncodeInteger(LiteralType type, int64_t value);
absl::StatusOr<std::string> EncodeNumber(LiteralType type, double value);
std::string EncodeLarge(uint64_t value);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_LITERAL_H_
