#include "tests/gpu/profile/ncu.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "common/run_child.h"

namespace warpsmith::profile_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool quoted = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.push_back(cell);
      cell.clear();
    } else if (c != '\r') {
      cell += c;
    }
  }
  cells.push_back(cell);
  return cells;
}

bool ToNumber(std::string text, double* value) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char* end = nullptr;
  *value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

}  // namespace

std::string FindNcu() {
  std::vector<fs::path> places;
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::stringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) places.emplace_back(part);
  }
  places.emplace_back("/usr/local/cuda/bin");
  std::error_code error;
  for (fs::directory_iterator entry("/opt/nvidia/nsight-compute", error), end; !error && entry != end;
       entry.increment(error)) {
    places.push_back(entry->path());
  }
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place / "ncu", error)) return (place / "ncu").string();
  }
  return {};
}

absl::StatusOr<std::map<std::string, double>> ParseNcu(std::string_view output) {
  std::stringstream lines{std::string(output)};
  std::vector<std::string> head, last;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("\"ID\"", 0) == 0) {
      head = Cells(line);
    } else if (!head.empty() && line.rfind('"', 0) == 0) {
      last = Cells(line);
    }
  }
  if (head.empty() || last.size() != head.size()) return NotFound("ncu printed no table: " + std::string(output));
  std::map<std::string, double> values;
  for (size_t i = 0; i < head.size(); ++i) {
    double value = 0;
    if (head[i].find("__") != std::string::npos && ToNumber(last[i], &value)) values[head[i]] = value;
  }
  return values;
}

absl::StatusOr<std::map<std::string, double>> RunNcu(const std::string& ncu, const std::vector<std::string>& metrics,
                                                     const std::vector<std::string>& command) {
  std::string names;
  for (const std::string& name : metrics) names += (names.empty() ? "" : ",") + name;
  ChildOptions options;
  options.arguments = {ncu,    "--clock-control", "none", "--csv",          "--page", "raw",       "--print-units",
                       "base", "--launch-skip",   "1",    "--launch-count", "1",      "--metrics", names};
  options.arguments.insert(options.arguments.end(), command.begin(), command.end());
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit exit, RunChild(options, "", std::chrono::seconds(40)));
  if (exit.timed_out || exit.signaled || exit.exit_code != 0) {
    return Internal("ncu: " + exit.Describe() + ": " + exit.standard_output + exit.standard_error);
  }
  return ParseNcu(exit.standard_output);
}

}  // namespace warpsmith::profile_test
