#include "cli/batch_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/names.h"
#include "common/file.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<BatchEntry>> ReadFolder(const fs::path& folder, const std::string& problem) {
  std::error_code error;
  if (problem.empty() || !fs::is_regular_file(problem, error)) {
    return InvalidArgument(
        fmt::format("{}: say with --problem FILE.py which problem these kernels are for", folder.string()));
  }
  std::vector<BatchEntry> entries;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() != ".cu") continue;
    BatchEntry& entry = entries.emplace_back();
    entry.name = file.path().filename().string();
    entry.file = file.path().string();
    entry.problem = problem;
  }
  if (error) return InvalidArgument(fmt::format("{}: {}", folder.string(), error.message()));
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

absl::StatusOr<std::vector<std::string>> Strings(const Json& object, const char* field, const std::string& where) {
  std::vector<std::string> strings;
  auto found = object.find(field);
  if (found == object.end()) return strings;
  if (found->is_string()) return std::vector<std::string>{found->get<std::string>()};
  if (!found->is_array()) return InvalidArgument(fmt::format("{}: {} must be a text or a list of texts", where, field));
  for (const Json& item : *found) {
    if (!item.is_string()) return InvalidArgument(fmt::format("{}: {} must hold texts", where, field));
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

absl::StatusOr<std::string> FindProblem(const std::string& name, const fs::path& beside, const std::string& given,
                                        const std::string& where) {
  std::error_code ignored;
  const fs::path named = name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0 ? name : name + ".py";
  if (name.empty()) {
    if (fs::is_regular_file(given, ignored)) return given;
    return InvalidArgument(
        fmt::format("{}: no problem; name one there, or all of them's with --problem FILE.py", where));
  }
  std::vector<fs::path> places = {beside / named};
  if (!given.empty() && fs::is_directory(given, ignored)) places.push_back(fs::path(given) / named);
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) return place.string();
  }
  return InvalidArgument(fmt::format("{}: there is no problem {}; looked for {}{}", where, name, places[0].string(),
                                     places.size() > 1 ? " and " + places[1].string() : ""));
}

absl::StatusOr<BatchEntry> ReadEntry(const Json& object, const fs::path& beside, const std::string& problem,
                                     const std::string& where) {
  if (!object.is_object() || !object.contains("file") || !object["file"].is_string()) {
    return InvalidArgument(where + ": must be an object with a text \"file\"");
  }
  BatchEntry entry;
  entry.name = object["file"].get<std::string>();
  entry.file = (beside / entry.name).string();
  if (object.contains("problem") && !object["problem"].is_string()) {
    return InvalidArgument(where + ": problem must be a text");
  }
  WARPSMITH_ASSIGN_OR_RETURN(entry.problem, FindProblem(object.value("problem", ""), beside, problem, where));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<std::string> accepted, Strings(object, "accepted", where));
  for (const std::string& name : accepted) {
    auto precision = ParsePrecision(name);
    if (!precision.ok()) return Annotate(precision.status(), where);
    entry.accepted.push_back(*precision);
  }
  WARPSMITH_ASSIGN_OR_RETURN(entry.expected, Strings(object, "expected_outcome", where));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<std::string> more, Strings(object, "also_allowed", where));
  entry.expected.insert(entry.expected.end(), more.begin(), more.end());
  return entry;
}

}  // namespace

absl::StatusOr<std::vector<BatchEntry>> ReadBatch(const std::string& batch, const std::string& problem) {
  std::error_code ignored;
  std::vector<BatchEntry> entries;
  if (fs::is_directory(batch, ignored)) {
    WARPSMITH_ASSIGN_OR_RETURN(entries, ReadFolder(batch, problem));
  } else {
    absl::StatusOr<std::string> text = ReadFile(batch);
    if (!text.ok()) return InvalidArgument(Message(text.status()));
    JsonLimits limits;
    limits.max_bytes = 64u << 20;
    absl::StatusOr<Json> manifest = ParseStrictJson(*text, limits);
    if (!manifest.ok()) return Annotate(manifest.status(), batch);
    if (!manifest->is_array()) return InvalidArgument(batch + ": must be a JSON list of objects");
    for (size_t i = 0; i < manifest->size(); ++i) {
      WARPSMITH_ASSIGN_OR_RETURN(BatchEntry entry, ReadEntry((*manifest)[i], fs::path(batch).parent_path(), problem,
                                                             fmt::format("{}: entry {}", batch, i)));
      entries.push_back(std::move(entry));
    }
  }
  if (entries.empty()) return InvalidArgument(batch + ": there is no kernel in it; give a folder with .cu files");
  // One problem after the other: each is loaded once.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const BatchEntry& a, const BatchEntry& b) { return a.problem < b.problem; });
  return entries;
}

}  // namespace warpsmith::cli
