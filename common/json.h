// Strict JSON: RFC 8259 only, duplicate keys refused, depth and size bounded before parsing.
// Threading: pure functions. Errors: InvalidArgument with line, column and what was expected.
#ifndef WARPSMITH_COMMON_JSON_H_
#define WARPSMITH_COMMON_JSON_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "common/status.h"

namespace warpsmith {

using Json = nlohmann::json;

struct JsonLimits {
  int max_depth = 32;
  size_t max_bytes = 256u << 10;
};

absl::StatusOr<Json> ParseStrictJson(std::string_view text, const JsonLimits& limits = {});

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_JSON_H_
