#include "cli/problem_manifest.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cli/names.h"
#include "common/file.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

constexpr size_t kMostManifestBytes = 4u << 20;
constexpr int kMostDepth = 16;
constexpr int kMostNodes = 100'000;  // aliases multiply what a file holds

// A plain scalar is what it looks like; a quoted one is text.
Json ScalarOf(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "true") return true;
  if (text == "false") return false;
  if (text.empty() || text.find_first_of("0123456789") > 2) return text;
  char* end = nullptr;
  const long long whole = std::strtoll(text.c_str(), &end, 10);
  if (*end == 0) return whole;
  const double number = std::strtod(text.c_str(), &end);
  if (*end == 0 && std::isfinite(number)) return number;
  return text;
}

absl::StatusOr<Json> JsonOf(const YAML::Node& node, int depth, int* nodes) {
  if (depth > kMostDepth || ++*nodes > kMostNodes) {
    return InvalidArgument("it nests too deep or repeats too much; write it out plainly");
  }
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& item : node) {
      WARPSMITH_ASSIGN_OR_RETURN(Json value, JsonOf(item, depth + 1, nodes));
      list.push_back(std::move(value));
    }
    return list;
  }
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return InvalidArgument("a field's name must be a text");
      const std::string& name = entry.first.Scalar();
      if (object.contains(name)) return InvalidArgument(fmt::format("the field {} is there twice", name));
      WARPSMITH_ASSIGN_OR_RETURN(object[name], JsonOf(entry.second, depth + 1, nodes));
    }
    return object;
  }
  return node.IsScalar() ? ScalarOf(node) : Json();
}

absl::StatusOr<Json> ParseYaml(const std::string& text) {
  try {
    int nodes = 0;
    return JsonOf(YAML::Load(text), 0, &nodes);
  } catch (const YAML::Exception& error) {
    return InvalidArgument(fmt::format("line {}: {}", error.mark.line + 1, error.msg));
  }
}

absl::Status CheckFields(const Json& object, const std::set<std::string>& known, const std::string& where) {
  for (const auto& item : object.items()) {
    if (known.contains(item.key())) continue;
    return InvalidArgument(
        fmt::format("{}: there is no field {}; there are {}", where, item.key(), fmt::join(known, ", ")));
  }
  return absl::OkStatus();
}

// JSON as protobuf reads it: precision classes have their full names there.
absl::Status ReadSettings(const Json& given, const std::string& where, v1::SearchSettings* settings) {
  Json json = given;
  if (!json.is_object()) return InvalidArgument(where + ": settings must be an object with the fields of a search");
  if (json.contains("accepted")) {
    Json& accepted = json["accepted"];
    if (accepted.is_string()) accepted = Json::array({accepted});
    if (!accepted.is_array()) return InvalidArgument(where + ": accepted must be a list of precision classes");
    for (Json& name : accepted) {
      if (!name.is_string()) return InvalidArgument(where + ": accepted must hold names: fp32, tf32, fp16, bf16");
      auto precision = ParsePrecision(name.get<std::string>());
      if (!precision.ok()) return Annotate(precision.status(), where);
      name = v1::PrecisionClass_Name(*precision);
    }
  }
  const auto status = google::protobuf::util::JsonStringToMessage(json.dump(), settings);
  if (status.ok()) return absl::OkStatus();
  return InvalidArgument(fmt::format("{}: settings: {}; the fields are those of SearchSettings in search.proto", where,
                                     std::string(status.message())));
}

absl::Status ReadAmount(const Json& object, const char* field, const std::string& where, double* value) {
  const auto found = object.find(field);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_number() || found->get<double>() < 0) {
    return InvalidArgument(fmt::format("{}: {} must be a number, 0 (no limit) or more", where, field));
  }
  *value = found->get<double>();
  return absl::OkStatus();
}

absl::Status ReadCount(const Json& object, const char* field, const std::string& where, int64_t* value) {
  const auto found = object.find(field);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_number_integer()) return InvalidArgument(fmt::format("{}: {} must be a whole number", where, field));
  *value = found->get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadText(const Json& object, const char* field, const std::string& where, std::string* value) {
  const auto found = object.find(field);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_string()) return InvalidArgument(fmt::format("{}: {} must be a text", where, field));
  *value = found->get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadEntryOf(const Json& item, const std::filesystem::path& beside, const std::string& where,
                         ManifestEntry* entry) {
  std::string path;
  if (item.is_string()) {
    path = item.get<std::string>();
  } else if (item.is_object()) {
    WARPSMITH_RETURN_IF_ERROR(CheckFields(item, {"path", "settings"}, where));
    WARPSMITH_RETURN_IF_ERROR(ReadText(item, "path", where, &path));
    if (item.contains("settings")) {
      WARPSMITH_RETURN_IF_ERROR(ReadSettings(item["settings"], where, &entry->settings));
    }
  }
  if (path.empty()) return InvalidArgument(where + ": give a path, or an object with a path and settings");
  entry->path = (beside / path).string();
  return absl::OkStatus();
}

absl::StatusOr<ProblemManifest> FromJson(const Json& json, const std::string& path) {
  if (!json.is_object()) return InvalidArgument(path + ": a manifest is an object with a list `problems`");
  WARPSMITH_RETURN_IF_ERROR(CheckFields(
      json, {"name", "owner", "priority", "parallel", "max_usd", "max_tokens", "max_gpu_hours", "settings", "problems"},
      path));
  ProblemManifest manifest;
  WARPSMITH_RETURN_IF_ERROR(ReadText(json, "name", path, &manifest.name));
  WARPSMITH_RETURN_IF_ERROR(ReadText(json, "owner", path, &manifest.owner));
  int64_t priority = 0, parallel = -1, tokens = 0;
  double usd = 0, hours = 0;
  WARPSMITH_RETURN_IF_ERROR(ReadCount(json, "priority", path, &priority));
  WARPSMITH_RETURN_IF_ERROR(ReadCount(json, "parallel", path, &parallel));
  WARPSMITH_RETURN_IF_ERROR(ReadCount(json, "max_tokens", path, &tokens));
  WARPSMITH_RETURN_IF_ERROR(ReadAmount(json, "max_usd", path, &usd));
  WARPSMITH_RETURN_IF_ERROR(ReadAmount(json, "max_gpu_hours", path, &hours));
  manifest.limits.set_priority(static_cast<int>(std::clamp<int64_t>(priority, INT32_MIN, INT32_MAX)));
  manifest.limits.set_parallel(static_cast<int>(std::clamp<int64_t>(parallel, -1, INT32_MAX)));
  manifest.limits.set_max_tokens(tokens);
  manifest.limits.set_max_usd(usd);
  manifest.limits.set_max_gpu_hours(hours);
  if (json.contains("settings")) {
    WARPSMITH_RETURN_IF_ERROR(ReadSettings(json["settings"], path, &manifest.settings));
  }
  if (!json.contains("problems") || !json["problems"].is_array() || json["problems"].empty()) {
    return InvalidArgument(path + ": problems must be a list with at least one path");
  }
  for (size_t i = 0; i < json["problems"].size(); ++i) {
    WARPSMITH_RETURN_IF_ERROR(ReadEntryOf(json["problems"][i], std::filesystem::path(path).parent_path(),
                                          fmt::format("{}: problems[{}]", path, i), &manifest.problems.emplace_back()));
  }
  return manifest;
}

}  // namespace

bool IsManifest(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

absl::StatusOr<ProblemManifest> ReadManifest(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMostManifestBytes);
  if (!text.ok()) return InvalidArgument(Message(text.status()));
  const bool json = std::filesystem::path(path).extension() == ".json";
  JsonLimits limits;
  limits.max_bytes = kMostManifestBytes;
  absl::StatusOr<Json> parsed = json ? ParseStrictJson(*text, limits) : ParseYaml(*text);
  if (!parsed.ok()) return InvalidArgument(fmt::format("{}: {}", path, Message(parsed.status())));
  return FromJson(*parsed, path);
}

}  // namespace warpsmith::cli
