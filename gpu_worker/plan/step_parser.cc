#include "gpu_worker/plan/step_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "gpu_worker/plan/argument_parser.h"
#include "gpu_worker/plan/json_fields.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"

namespace warpsmith::plan {
namespace {

using Names = std::vector<std::string>;

constexpr size_t kMaxArguments = 1024;
constexpr std::array<std::string_view, 5> kStepKinds = {"kernel", "memset", "copy", "library", "repeat"};

absl::StatusOr<std::vector<Expression>> ReadDimensions(const Json& value, const std::string& path, const Names& names) {
  WARPSMITH_RETURN_IF_ERROR(CheckArray(value, path, 1, 3));
  std::vector<Expression> result;
  for (size_t i = 0; i < value.size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(Expression side, ReadExpression(value[i], Child(path, i), names));
    result.push_back(std::move(side));
  }
  return result;
}

absl::StatusOr<KernelStep> ParseKernelStep(const Json& value, const std::string& path, const Names& names) {
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path,
                                        {"kernel", "grid", "block", "args", "shared_bytes", "cluster", "cooperative"},
                                        {"grid", "block", "args"}));
  KernelStep step;
  WARPSMITH_ASSIGN_OR_RETURN(step.kernel, ReadString(value["kernel"], Child(path, "kernel")));
  if (!IsKernelName(step.kernel)) {
    return FieldError(Child(path, "kernel"),
                      fmt::format("\"{}\" is no kernel's name; write f or f<128,4>", Printable(step.kernel)));
  }
  WARPSMITH_ASSIGN_OR_RETURN(step.grid, ReadDimensions(value["grid"], Child(path, "grid"), names));
  WARPSMITH_ASSIGN_OR_RETURN(step.block, ReadDimensions(value["block"], Child(path, "block"), names));
  if (value.contains("shared_bytes")) {
    WARPSMITH_ASSIGN_OR_RETURN(step.shared_bytes,
                               ReadExpression(value["shared_bytes"], Child(path, "shared_bytes"), names));
  }
  if (value.contains("cluster")) {
    const Json& cluster = value["cluster"];
    const std::string cluster_path = Child(path, "cluster");
    WARPSMITH_RETURN_IF_ERROR(CheckArray(cluster, cluster_path, 1, 3));
    for (size_t i = 0; i < cluster.size(); ++i) {
      WARPSMITH_ASSIGN_OR_RETURN(int64_t side, ReadInteger(cluster[i], Child(cluster_path, i), 1, 8));
      step.cluster.push_back(side);
    }
  }
  if (value.contains("cooperative")) {
    WARPSMITH_ASSIGN_OR_RETURN(step.cooperative, ReadBool(value["cooperative"], Child(path, "cooperative")));
  }
  const Json& args = value["args"];
  const std::string args_path = Child(path, "args");
  WARPSMITH_RETURN_IF_ERROR(CheckArray(args, args_path, 0, kMaxArguments));
  for (size_t i = 0; i < args.size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(Argument argument, ParseArgument(args[i], Child(args_path, i), names));
    step.args.push_back(std::move(argument));
  }
  return step;
}

absl::StatusOr<MemsetStep> ParseMemsetStep(const Json& value, const std::string& path) {
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path, {"memset", "value", "width"}, {"value"}));
  MemsetStep step;
  WARPSMITH_ASSIGN_OR_RETURN(step.tensor, ReadString(value["memset"], Child(path, "memset")));
  if (value.contains("width")) {
    WARPSMITH_ASSIGN_OR_RETURN(int64_t width, ReadInteger(value["width"], Child(path, "width")));
    if (width != 1 && width != 2 && width != 4) return FieldError(Child(path, "width"), "expected 1, 2 or 4 (bytes)");
    step.width = static_cast<uint32_t>(width);
  }
  WARPSMITH_ASSIGN_OR_RETURN(
      int64_t pattern, ReadInteger(value["value"], Child(path, "value"), 0, (int64_t{1} << (8 * step.width)) - 1));
  step.value = static_cast<uint32_t>(pattern);
  return step;
}

absl::StatusOr<CopyStep> ParseCopyStep(const Json& value, const std::string& path) {
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path, {"copy", "to"}, {"to"}));
  CopyStep step;
  WARPSMITH_ASSIGN_OR_RETURN(step.source, ReadString(value["copy"], Child(path, "copy")));
  WARPSMITH_ASSIGN_OR_RETURN(step.target, ReadString(value["to"], Child(path, "to")));
  return step;
}

absl::StatusOr<RepeatStep> ParseRepeatStep(const Json& value, const std::string& path, Names names, int depth) {
  WARPSMITH_RETURN_IF_ERROR(CheckObject(value, path, {"repeat", "index", "steps"}, {"steps"}));
  if (depth >= kMaxRepeatDepth) {
    return PlanError(reason::kLimits, fmt::format("{}: repeats nest to {} levels", path, kMaxRepeatDepth));
  }
  RepeatStep step;
  WARPSMITH_ASSIGN_OR_RETURN(step.count, ReadExpression(value["repeat"], Child(path, "repeat"), names));
  if (step.count.constant().value_or(1) < 1) {
    return PlanError(reason::kRange,
                     fmt::format("{}: {} is out of range: at least 1", Child(path, "repeat"), step.count.text()));
  }
  if (value.contains("index")) {
    const std::string index_path = Child(path, "index");
    WARPSMITH_ASSIGN_OR_RETURN(step.index, ReadString(value["index"], index_path));
    if (!IsIdentifier(step.index) || step.index == "min" || step.index == "max") {
      return FieldError(
          index_path, fmt::format("\"{}\" cannot name an index; write an identifier such as t", Printable(step.index)));
    }
    if (std::find(names.begin(), names.end(), step.index) != names.end()) {
      return PlanError(reason::kNames, fmt::format("{}: the name {} is taken", index_path, step.index));
    }
    names.push_back(step.index);
  }
  WARPSMITH_ASSIGN_OR_RETURN(step.steps, ParseSteps(value["steps"], Child(path, "steps"), names, depth + 1));
  return step;
}

absl::StatusOr<Step> ParseStep(const Json& value, const std::string& path, const Names& names, int depth) {
  if (!value.is_object()) return FieldError(path, fmt::format("expected an object, got {}", Describe(value)));
  int kinds = 0;
  for (std::string_view kind : kStepKinds) kinds += value.contains(std::string(kind)) ? 1 : 0;
  if (kinds != 1) {
    return FieldError(path, fmt::format("a step has exactly one of {}; this one has {}", fmt::join(kStepKinds, ", "),
                                        kinds == 0 ? "none" : fmt::format("{}", kinds)));
  }
  if (value.contains("kernel")) {
    WARPSMITH_ASSIGN_OR_RETURN(KernelStep step, ParseKernelStep(value, path, names));
    return Step{std::move(step)};
  }
  if (value.contains("memset")) {
    WARPSMITH_ASSIGN_OR_RETURN(MemsetStep step, ParseMemsetStep(value, path));
    return Step{std::move(step)};
  }
  if (value.contains("copy")) {
    WARPSMITH_ASSIGN_OR_RETURN(CopyStep step, ParseCopyStep(value, path));
    return Step{std::move(step)};
  }
  if (value.contains("library")) {
    WARPSMITH_ASSIGN_OR_RETURN(LibraryStep step, ParseLibraryStep(value, path, names));
    return Step{std::move(step)};
  }
  WARPSMITH_ASSIGN_OR_RETURN(RepeatStep step, ParseRepeatStep(value, path, names, depth));
  return Step{std::move(step)};
}

}  // namespace

bool IsKernelName(std::string_view name) {
  if (name.empty() || name.size() > 512 || (name[0] >= '0' && name[0] <= '9')) return false;
  size_t open = name.find('<');
  if (open != std::string_view::npos && name.back() != '>') return false;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool word = isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
    if (c == '<') ++depth;
    if (c == '>' && --depth < 0) return false;
    // Spaces, stars, commas and signs stand between template arguments only.
    const bool inside = depth > 0 && (c == ' ' || c == '*' || c == ',' || c == '-');
    if (!word && !inside && c != '<' && c != '>') return false;
  }
  return depth == 0 && open != 0 && name[0] != ':';
}

absl::StatusOr<std::vector<Step>> ParseSteps(const Json& value, const std::string& path, const Names& names,
                                             int depth) {
  WARPSMITH_RETURN_IF_ERROR(CheckArray(value, path, 1, 100000));
  std::vector<Step> steps;
  for (size_t i = 0; i < value.size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(Step step, ParseStep(value[i], Child(path, i), names, depth));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace warpsmith::plan
