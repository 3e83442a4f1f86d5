#include "gpu_worker/plan/plan_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gpu_worker/plan/compiler_options.h"
#include "gpu_worker/plan/dtype.h"
#include "gpu_worker/plan/json_fields.h"
#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"
#include "gpu_worker/plan/step_parser.h"

namespace warpsmith::plan {
namespace {

constexpr size_t kMaxTuneNames = 8;
constexpr size_t kMaxTuneValues = 32;
constexpr size_t kMaxDimensions = 8;

// "output", "output0", ...: the problem's own.
bool IsOutputName(std::string_view name) {
  if (!name.starts_with("output")) return false;
  name.remove_prefix(6);
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

absl::StatusOr<ScratchTensor> ParseScratchTensor(const Json& value, const std::string& path) {
  WARPSMITH_RETURN_IF_ERROR(
      CheckObject(value, path, {"name", "dtype", "shape", "persistent"}, {"name", "dtype", "shape"}));
  ScratchTensor tensor;
  WARPSMITH_ASSIGN_OR_RETURN(tensor.name, ReadString(value["name"], Child(path, "name")));
  if (!IsIdentifier(tensor.name)) {
    return FieldError(Child(path, "name"), fmt::format("\"{}\" is no C identifier", Printable(tensor.name)));
  }
  if (IsOutputName(tensor.name)) {
    return PlanError(reason::kNames,
                     fmt::format("{}: {} is reserved for the problem's outputs", Child(path, "name"), tensor.name));
  }
  WARPSMITH_ASSIGN_OR_RETURN(tensor.dtype, ReadString(value["dtype"], Child(path, "dtype")));
  if (!DtypeBytes(tensor.dtype).has_value()) {
    return FieldError(Child(path, "dtype"),
                      fmt::format("\"{}\" is none of {}", Printable(tensor.dtype), KnownDtypes()));
  }
  const std::string shape = Child(path, "shape");
  WARPSMITH_RETURN_IF_ERROR(CheckArray(value["shape"], shape, 0, kMaxDimensions));
  for (size_t i = 0; i < value["shape"].size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(int64_t side, ReadInteger(value["shape"][i], Child(shape, i), 1));
    tensor.shape.push_back(side);
  }
  if (value.contains("persistent")) {
    WARPSMITH_ASSIGN_OR_RETURN(tensor.persistent, ReadBool(value["persistent"], Child(path, "persistent")));
  }
  return tensor;
}

absl::Status ParseScratch(const Json& value, std::vector<ScratchTensor>* scratch) {
  WARPSMITH_RETURN_IF_ERROR(CheckArray(value, "scratch", 0, 1024));
  std::set<std::string> names;
  for (size_t i = 0; i < value.size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(ScratchTensor tensor, ParseScratchTensor(value[i], Child("scratch", i)));
    if (!names.insert(tensor.name).second) {
      return PlanError(reason::kNames, fmt::format("scratch[{}].name: {} stands twice", i, tensor.name));
    }
    scratch->push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

absl::Status ParseOptions(const Json& value, std::vector<std::string>* options) {
  WARPSMITH_RETURN_IF_ERROR(CheckArray(value, "options", 0, kMaxOptions));
  std::set<std::string> keys;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string path = Child("options", i);
    WARPSMITH_ASSIGN_OR_RETURN(std::string option, ReadString(value[i], path));
    if (absl::Status status = CheckOption(option); !status.ok()) return AnnotatePlanError(status, path);
    std::string_view name = DefinedName(option);
    std::string key = name.empty() ? option.substr(0, option.find('=')) : "-D" + std::string(name);
    if (!keys.insert(key).second) return PlanError(reason::kOptions, fmt::format("{}: {} stands twice", path, key));
    options->push_back(std::move(option));
  }
  return absl::OkStatus();
}

absl::Status ParseTune(const Json& value, Plan* plan) {
  if (!value.is_object()) return FieldError("tune", fmt::format("expected an object, got {}", Describe(value)));
  if (value.size() > kMaxTuneNames) {
    return PlanError(reason::kLimits, fmt::format("tune: {} names; at most {} allowed", value.size(), kMaxTuneNames));
  }
  for (const auto& [name, values] : value.items()) {
    const std::string path = Child("tune", Printable(name));
    if (!IsMacroName(name) || name == "min" || name == "max" || name == "sm_count") {
      return FieldError(path,
                        "cannot name a tuning value; write an identifier such as TILE, not min, max or sm_count, "
                        "that does not begin with an underscore");
    }
    for (const std::string& option : plan->options) {
      if (DefinedName(option) == name) return PlanError(reason::kNames, path + ": options define the name too");
    }
    WARPSMITH_RETURN_IF_ERROR(CheckArray(values, path, 1, kMaxTuneValues));
    TuneParameter parameter{name, {}};
    for (size_t i = 0; i < values.size(); ++i) {
      WARPSMITH_ASSIGN_OR_RETURN(int64_t number, ReadInteger(values[i], Child(path, i)));
      if (std::find(parameter.values.begin(), parameter.values.end(), number) != parameter.values.end()) {
        return FieldError(Child(path, i), fmt::format("{} stands twice", number));
      }
      parameter.values.push_back(number);
    }
    plan->tune.push_back(std::move(parameter));
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> ReadPlan(const Json& root) {
  Plan plan;
  WARPSMITH_RETURN_IF_ERROR(CheckObject(
      root, "", {"version", "scratch", "steps", "options", "min_arch", "tune", "prepare"}, {"version", "steps"}));
  WARPSMITH_ASSIGN_OR_RETURN(int64_t version, ReadInteger(root["version"], "version"));
  if (version != 1) return FieldError("version", fmt::format("{} is not known; write 1", version));
  if (root.contains("scratch")) WARPSMITH_RETURN_IF_ERROR(ParseScratch(root["scratch"], &plan.scratch));
  if (root.contains("options")) WARPSMITH_RETURN_IF_ERROR(ParseOptions(root["options"], &plan.options));
  if (root.contains("tune")) WARPSMITH_RETURN_IF_ERROR(ParseTune(root["tune"], &plan));
  if (root.contains("min_arch")) {
    WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadString(root["min_arch"], "min_arch"));
    auto architecture = ParseArchitecture(text);
    if (!architecture.ok()) return AnnotatePlanError(architecture.status(), "min_arch");
    plan.min_arch = *architecture;
  }
  std::vector<std::string> names = {"sm_count"};
  for (const TuneParameter& parameter : plan.tune) names.push_back(parameter.name);
  if (root.contains("prepare")) {
    WARPSMITH_ASSIGN_OR_RETURN(plan.prepare, ParseSteps(root["prepare"], "prepare", names));
  }
  WARPSMITH_ASSIGN_OR_RETURN(plan.steps, ParseSteps(root["steps"], "steps", names));
  return plan;
}

}  // namespace

absl::StatusOr<Plan> ParsePlan(std::string_view text, int first_line) {
  const JsonLimits limits;
  if (text.size() > limits.max_bytes) {
    return PlanError(reason::kJson,
                     fmt::format("the plan has {} bytes; the limit is {} (256 KiB)", text.size(), limits.max_bytes));
  }
  if (text.empty() || text.front() != '{') {
    return PlanError(reason::kJson,
                     fmt::format("line {}: the plan is no JSON object; it begins with \"{{\"", first_line));
  }
  // Line breaks before the value make the parser count lines as the file does.
  std::string padded(static_cast<size_t>(std::max(first_line - 1, 0)), '\n');
  padded += text;
  absl::StatusOr<Json> root = ParseStrictJson(padded, {limits.max_depth, padded.size()});
  if (!root.ok()) {
    // The parser shows what it read last, which may be the whole plan.
    return PlanError(reason::kJson, "the plan's JSON: " + Printable(Message(root.status()), 300));
  }
  return ReadPlan(*root);
}

}  // namespace warpsmith::plan
