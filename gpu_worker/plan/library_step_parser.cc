#include <fmt/format.h>

#include "gpu_worker/plan/argument_parser.h"
#include "gpu_worker/plan/json_fields.h"
#include "gpu_worker/plan/library_schema.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/step_parser.h"

namespace warpsmith::plan {
namespace {

using Kind = LibraryField::Kind;

absl::Status CheckConstant(const Expression& value, const LibraryField& field, const std::string& path) {
  if (value.constant().value_or(field.min) >= field.min) return absl::OkStatus();
  return PlanError(reason::kRange, fmt::format("{}: {} is out of range: at least {}", path, value.text(), field.min));
}

// One integer for each dimension: n, c and two or three more, or just those.
absl::Status ParseList(const Json& object, const LibraryField& field, const std::string& path, size_t dimensions,
                       const std::vector<std::string>& names, LibraryStep* step) {
  const std::string key(field.name);
  const size_t count = field.required ? dimensions : dimensions - 2;
  const bool given = object.contains(key);
  if (given) WARPSMITH_RETURN_IF_ERROR(CheckArray(object[key], path, count, count));
  for (size_t i = 0; i < count; ++i) {
    Expression value(static_cast<int64_t>(field.fallback.value_or(0)));
    if (given) {
      WARPSMITH_ASSIGN_OR_RETURN(value, ReadExpression(object[key][i], Child(path, i), names));
      WARPSMITH_RETURN_IF_ERROR(CheckConstant(value, field, Child(path, i)));
    }
    step->integers[fmt::format("{}{}", key, i)] = value;
  }
  return absl::OkStatus();
}

absl::Status ParseField(const Json& object, const LibraryField& field, const std::string& path,
                        const std::vector<std::string>& names, LibraryStep* step) {
  const std::string key(field.name);
  const bool given = object.contains(key);
  switch (field.kind) {
    case Kind::kInteger: {
      Expression value(static_cast<int64_t>(field.fallback.value_or(0)));
      if (given) {
        WARPSMITH_ASSIGN_OR_RETURN(value, ReadExpression(object[key], path, names));
      }
      WARPSMITH_RETURN_IF_ERROR(CheckConstant(value, field, path));
      step->integers[key] = value;
      return absl::OkStatus();
    }
    case Kind::kIntegerList: {
      const std::string first = "dimA";
      WARPSMITH_RETURN_IF_ERROR(CheckArray(object[first], Child(path.substr(0, path.rfind('.')), first), 4, 5));
      const size_t dimensions = object[first].size();
      step->integers["nbDims"] = Expression(static_cast<int64_t>(dimensions));
      return ParseList(object, field, path, dimensions, names, step);
    }
    case Kind::kScalar: {
      if (given) {
        WARPSMITH_ASSIGN_OR_RETURN(step->scalars[key], ReadNumber(object[key], path));
      } else if (field.fallback.has_value()) {
        step->scalars[key] = *field.fallback;
      }
      return absl::OkStatus();
    }
    case Kind::kOperand: {
      WARPSMITH_ASSIGN_OR_RETURN(step->operands[key], ParseView(object[key], path, names));
      return absl::OkStatus();
    }
    case Kind::kEnum: {
      step->enums[key] = std::string(field.choices.front());
      if (given) {
        WARPSMITH_ASSIGN_OR_RETURN(step->enums[key], ReadChoice(object[key], path, field.choices));
      }
      return absl::OkStatus();
    }
  }
  return Internal("a library field of no kind");
}

}  // namespace

absl::StatusOr<LibraryStep> ParseLibraryStep(const Json& value, const std::string& path,
                                             const std::vector<std::string>& names) {
  LibraryStep step;
  WARPSMITH_ASSIGN_OR_RETURN(step.function, ReadChoice(value["library"], Child(path, "library"), LibraryFunctions()));
  const LibrarySchema& schema = *FindLibrarySchema(step.function);
  std::vector<std::string_view> known = {"library", "compute"}, required = {"compute"};
  for (const LibraryField& field : schema.fields) {
    known.push_back(field.name);
    if (field.required) required.push_back(field.name);
  }
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path, known, required));
  WARPSMITH_ASSIGN_OR_RETURN(step.compute,
                             ReadChoice(value["compute"], Child(path, "compute"), {"fp32", "tf32", "fp16", "bf16"}));
  for (const LibraryField& field : schema.fields) {
    WARPSMITH_RETURN_IF_ERROR(ParseField(value, field, Child(path, field.name), names, &step));
  }
  return step;
}

}  // namespace warpsmith::plan
