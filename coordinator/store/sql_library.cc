#include "coordinator/store/sql_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "common/file.h"

namespace warpsmith::store {
namespace {

constexpr std::string_view kMark = "-- name: ";

}  // namespace

absl::StatusOr<SqlLibrary> SqlLibrary::Load(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".sql") files.push_back(entry.path());
  }
  if (files.empty())
    return NotFound(fmt::format("{}: there are no .sql files here; reinstall warpsmith", folder.string()));
  std::sort(files.begin(), files.end());
  SqlLibrary library;
  for (const auto& file : files) {
    WARPSMITH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    std::istringstream lines(text);
    std::string line;
    std::string* body = nullptr;
    while (std::getline(lines, line)) {
      if (line.rfind(kMark, 0) == 0) {
        auto [at, added] = library.statements_.emplace(line.substr(kMark.size()), "");
        if (!added) return InvalidArgument(fmt::format("{}: the name {} is there twice", file.string(), at->first));
        body = &at->second;
      } else if (body != nullptr && line.rfind("--", 0) != 0) {
        *body += line + "\n";
      }
    }
  }
  return library;
}

absl::StatusOr<SqlLibrary> SqlLibrary::LoadShipped() {
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path folder, FindShare("coordinator/store/sql"));
  return Load(folder);
}

}  // namespace warpsmith::store
