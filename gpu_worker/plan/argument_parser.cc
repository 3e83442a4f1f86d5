#include "gpu_worker/plan/argument_parser.h"

#include <fmt/format.h>

#include "gpu_worker/plan/json_fields.h"
#include "gpu_worker/plan/literal.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"

namespace warpsmith::plan {
namespace {

constexpr char kForms[] =
    "expected a tensor's name, {\"tensor\": T, \"offset\": E}, a literal such as {\"i32\": 4}, or {\"tensor_map\": "
    "...}";

absl::StatusOr<Literal> ParseLiteral(LiteralType type, const Json& value, const std::string& path,
                                     const std::vector<std::string>& names) {
  Literal literal;
  literal.type = type;
  if (IsFloatingPoint(type)) {
    WARPSMITH_ASSIGN_OR_RETURN(literal.number, ReadNumber(value, path));
    auto encoded = EncodeNumber(type, literal.number);
    if (!encoded.ok()) return AnnotatePlanError(encoded.status(), path);
    return literal;
  }
  if (type == LiteralType::kBool && value.is_boolean()) {
    literal.integer = Expression(value.get<bool>() ? 1 : 0);
    return literal;
  }
  if (type == LiteralType::kU64 && value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    literal.large = value.get<uint64_t>();
    return literal;
  }
  WARPSMITH_ASSIGN_OR_RETURN(literal.integer, ReadExpression(value, path, names));
  if (std::optional<int64_t> constant = literal.integer.constant()) {
    auto encoded = EncodeInteger(type, *constant);
    if (!encoded.ok()) return AnnotatePlanError(encoded.status(), path);
  }
  return literal;
}

absl::StatusOr<TensorMapArgument> ParseTensorMap(const Json& value, const std::string& path) {
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path, {"tensor", "box", "swizzle"}, {"tensor", "box"}));
  TensorMapArgument map;
  WARPSMITH_ASSIGN_OR_RETURN(map.tensor, ReadString(value["tensor"], Child(path, "tensor")));
  const std::string box = Child(path, "box");
  WARPSMITH_RETURN_IF_ERROR(CheckArray(value["box"], box, 1, 5));
  for (size_t i = 0; i < value["box"].size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(int64_t side, ReadInteger(value["box"][i], Child(box, i), 1, 256));
    map.box.push_back(side);
  }
  if (value.contains("swizzle")) {
    WARPSMITH_ASSIGN_OR_RETURN(map.swizzle,
                               ReadChoice(value["swizzle"], Child(path, "swizzle"), {"none", "32B", "64B", "128B"}));
  }
  return map;
}

}  // namespace

absl::StatusOr<View> ParseView(const Json& value, const std::string& path, const std::vector<std::string>& names) {
  View view;
  if (value.is_string()) {
    view.tensor = value.get<std::string>();
    return view;
  }
  if (!value.is_object()) {
    return FieldError(
        path, fmt::format("expected a tensor's name or {{\"tensor\": T, \"offset\": E}}, got {}", Describe(value)));
  }
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path, {"tensor", "offset"}, {"tensor"}));
  WARPSMITH_ASSIGN_OR_RETURN(view.tensor, ReadString(value["tensor"], Child(path, "tensor")));
  if (value.contains("offset")) {
    WARPSMITH_ASSIGN_OR_RETURN(view.offset, ReadExpression(value["offset"], Child(path, "offset"), names));
  }
  return view;
}

absl::StatusOr<Argument> ParseArgument(const Json& value, const std::string& path,
                                       const std::vector<std::string>& names) {
  if (value.is_string() || (value.is_object() && value.contains("tensor"))) {
    WARPSMITH_ASSIGN_OR_RETURN(View view, ParseView(value, path, names));
    return Argument(std::move(view));
  }
  if (!value.is_object()) return FieldError(path, fmt::format("{}, got {}", kForms, Describe(value)));
  if (value.size() != 1) return FieldError(path, fmt::format("{}, got an object of {} fields", kForms, value.size()));
  const std::string& key = value.begin().key();
  const Json& inner = value.begin().value();
  if (key == "tensor_map") {
    WARPSMITH_ASSIGN_OR_RETURN(TensorMapArgument map, ParseTensorMap(inner, Child(path, key)));
    return Argument(std::move(map));
  }
  std::optional<LiteralType> type = LiteralTypeNamed(key);
  if (!type.has_value()) return FieldError(Child(path, Printable(key)), fmt::format("unknown field; {}", kForms));
  WARPSMITH_ASSIGN_OR_RETURN(Literal literal, ParseLiteral(*type, inner, Child(path, key), names));
  return Argument(std::move(literal));
}

}  // namespace warpsmith::plan
