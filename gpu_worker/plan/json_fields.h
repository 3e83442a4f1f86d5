// Typed reading of JSON values whose errors name the field's path, as in `steps[1].args[2].offset`.
// Threading: pure. Errors: plan errors with reason field (wrong type, missing, unknown) or range.
#ifndef WARPSMITH_GPU_WORKER_PLAN_JSON_FIELDS_H_
#define WARPSMITH_GPU_WORKER_PLAN_JSON_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "gpu_worker/plan/expression.h"

namespace warpsmith::plan {

absl::Status FieldError(std::string_view path, std::string_view message);

std::string Child(std::string_view path, std::string_view key);
std::string Child(std::string_view path, size_t index);

// "a string", "an object", "the number 1.5": what stands where something else is due.
std::string Describe(const Json& value);

// An object with only the fields of `known`, and all of `required`.
absl::Status CheckObject(const Json& value, std::string_view path, std::initializer_list<std::string_view> known,
                         std::initializer_list<std::string_view> required = {});
absl::Status CheckObject(const Json& value, std::string_view path, const std::vector<std::string_view>& known,
                         const std::vector<std::string_view>& required);
absl::Status CheckArray(const Json& value, std::string_view path, size_t min_size, size_t max_size);

absl::StatusOr<std::string> ReadString(const Json& value, std::string_view path);
absl::StatusOr<bool> ReadBool(const Json& value, std::string_view path);
absl::StatusOr<double> ReadNumber(const Json& value, std::string_view path);
// Integers only: 1.0, "1" and true are none.
absl::StatusOr<int64_t> ReadInteger(const Json& value, std::string_view path, int64_t min = INT64_MIN,
                                    int64_t max = INT64_MAX);
// An integer, or a string with an expression over `names`.
absl::StatusOr<Expression> ReadExpression(const Json& value, std::string_view path,
                                          const std::vector<std::string>& names);
// A string that is one of `values`.
absl::StatusOr<std::string> ReadChoice(const Json& value, std::string_view path,
                                       const std::vector<std::string_view>& values);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_JSON_FIELDS_H_
