#include "gpu_worker/plan/json_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"

namespace warpsmith::plan {
namespace {

// The plan's own object has no path.
std::string_view Shown(std::string_view path) { return path.empty() ? "the plan" : path; }

}  // namespace

absl::Status FieldError(std::string_view path, std::string_view message) {
  return PlanError(reason::kField, fmt::format("{}: {}", Shown(path), message));
}

std::string Child(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string Child(std::string_view path, size_t index) { return fmt::format("{}[{}]", path, index); }

std::string Describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::string:
      return fmt::format("the string \"{}\"", Printable(value.get_ref<const std::string&>()));
    case Json::value_t::array:
      return "a list";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::number_float:
      return fmt::format("the floating-point number {}", value.dump());
    default:
      return fmt::format("the integer {}", value.dump());
  }
}

absl::Status CheckObject(const Json& value, std::string_view path, const std::vector<std::string_view>& known,
                         const std::vector<std::string_view>& required) {
  if (!value.is_object()) return FieldError(path, fmt::format("expected an object, got {}", Describe(value)));
  for (const auto& [key, field] : value.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return FieldError(Child(path, Printable(key)),
                      fmt::format("unknown field; known here: {}", fmt::join(known, ", ")));
  }
  for (std::string_view key : required) {
    if (!value.contains(std::string(key))) return FieldError(Child(path, key), "this field is missing");
  }
  return absl::OkStatus();
}

absl::Status CheckObject(const Json& value, std::string_view path, std::initializer_list<std::string_view> known,
                         std::initializer_list<std::string_view> required) {
  return CheckObject(value, path, std::vector<std::string_view>(known), std::vector<std::string_view>(required));
}

absl::Status CheckArray(const Json& value, std::string_view path, size_t min_size, size_t max_size) {
  if (!value.is_array()) return FieldError(path, fmt::format("expected a list, got {}", Describe(value)));
  if (value.size() >= min_size && value.size() <= max_size) return absl::OkStatus();
  if (value.size() < min_size) {
    return FieldError(path, fmt::format("a list of {}; at least {} expected", value.size(), min_size));
  }
  return FieldError(path, fmt::format("a list of {}; at most {} allowed", value.size(), max_size));
}

absl::StatusOr<std::string> ReadString(const Json& value, std::string_view path) {
  if (!value.is_string()) return FieldError(path, fmt::format("expected a string, got {}", Describe(value)));
  return value.get<std::string>();
}

absl::StatusOr<bool> ReadBool(const Json& value, std::string_view path) {
  if (!value.is_boolean()) return FieldError(path, fmt::format("expected true or false, got {}", Describe(value)));
  return value.get<bool>();
}

absl::StatusOr<double> ReadNumber(const Json& value, std::string_view path) {
  if (!value.is_number()) return FieldError(path, fmt::format("expected a number, got {}", Describe(value)));
  return value.get<double>();
}

absl::StatusOr<int64_t> ReadInteger(const Json& value, std::string_view path, int64_t min, int64_t max) {
  if (!value.is_number_integer()) return FieldError(path, fmt::format("expected an integer, got {}", Describe(value)));
  const bool large = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (large || value.get<int64_t>() < min || value.get<int64_t>() > max) {
    std::string range = max == INT64_MAX ? fmt::format("at least {}", min) : fmt::format("{} to {}", min, max);
    if (min == INT64_MIN) range = max == INT64_MAX ? "within 64 bits" : fmt::format("at most {}", max);
    return PlanError(reason::kRange, fmt::format("{}: {} is out of range: {}", Shown(path), value.dump(), range));
  }
  return value.get<int64_t>();
}

absl::StatusOr<Expression> ReadExpression(const Json& value, std::string_view path,
                                          const std::vector<std::string>& names) {
  if (!value.is_string()) {
    if (!value.is_number_integer()) {
      return FieldError(path, fmt::format("expected an integer or an expression, got {}", Describe(value)));
    }
    WARPSMITH_ASSIGN_OR_RETURN(int64_t integer, ReadInteger(value, path));
    return Expression(integer);
  }
  const std::string& text = value.get_ref<const std::string&>();
  if (Printable(text.substr(0, 80)) != text.substr(0, 80)) {
    return FieldError(path, fmt::format("expected an expression, got {}", Describe(value)));
  }
  absl::StatusOr<Expression> expression = Expression::Parse(text, names);
  if (!expression.ok()) return AnnotatePlanError(expression.status(), path);
  return expression;
}

absl::StatusOr<std::string> ReadChoice(const Json& value, std::string_view path,
                                       const std::vector<std::string_view>& values) {
  WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadString(value, path));
  if (std::find(values.begin(), values.end(), text) == values.end()) {
    return FieldError(path, fmt::format("\"{}\" is none of {}", Printable(text), fmt::join(values, ", ")));
  }
  return text;
}

}  // namespace warpsmith::plan
