#include "cli/problem_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>
#include <tuple>

#include "cli/problem_file.h"
#include "cli/text.h"
#include "common/file.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

// "level3": 3; 0 for a name that is none.
int LevelOf(const std::string& folder) {
  static const std::regex level("level([0-9]{1,4})");
  std::smatch match;
  return std::regex_match(folder, match, level) ? std::stoi(match[1]) : 0;
}

// "23_Softmax": 23; 0 where no number stands before the first underscore.
int NumberOf(const std::string& name) {
  const size_t end = name.find('_');
  if (end == std::string::npos || end == 0 || end > 7) return 0;
  const bool digits = std::all_of(name.begin(), name.begin() + static_cast<ptrdiff_t>(end),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? std::stoi(name.substr(0, end)) : 0;
}

// What a file of KernelBench's format has; empty: it has all of it.
std::string MissingPart(const std::string& source) {
  static const std::regex model(R"((^|\n)class[ \t]+Model\b)");
  static const std::regex inputs(R"((^|\n)def[ \t]+get_inputs\b)");
  if (!std::regex_search(source, model)) return "class Model";
  if (!std::regex_search(source, inputs)) return "function get_inputs";
  return "";
}

std::vector<fs::path> LevelsIn(const fs::path& folder) {
  std::vector<fs::path> levels;
  for (const fs::path& entry : EntriesOf(folder)) {
    std::error_code ignored;
    if (LevelOf(entry.filename().string()) > 0 && fs::is_directory(entry, ignored)) levels.push_back(entry);
  }
  std::sort(levels.begin(), levels.end(), [](const fs::path& a, const fs::path& b) {
    return LevelOf(a.filename().string()) < LevelOf(b.filename().string());
  });
  return levels;
}

std::string Trimmed(std::string line) {
  line = line.substr(0, line.find('#'));
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

auto PlaceOf(const NamedProblem& problem) {
  return std::tuple(problem.source.level(), problem.source.number(), problem.source.name());
}

}  // namespace

void ProblemSet::AddFile(const std::string& path, const v1::SearchSettings& settings) {
  const auto read = ReadProblemFile(path);
  if (!read.ok()) {
    bad_.push_back(Message(read.status()));
    return;
  }
  if (const std::string missing = MissingPart(read->source); !missing.empty()) {
    bad_.push_back(fmt::format("{}: there is no {} in it; give files in KernelBench's format, or take this one out",
                               path, missing));
    return;
  }
  NamedProblem problem;
  problem.file = path;
  problem.source.set_name(read->name);
  problem.source.set_source(read->source);
  std::error_code ignored;
  problem.source.set_level(LevelOf(fs::weakly_canonical(path, ignored).parent_path().filename().string()));
  problem.source.set_number(NumberOf(read->name));
  *problem.source.mutable_settings() = settings;
  for (const NamedProblem& other : problems_) {
    const v1::ProblemSource& theirs = other.source;
    const v1::ProblemSource& ours = problem.source;
    if (theirs.level() == ours.level() &&
        (ours.number() > 0 ? theirs.number() == ours.number() : theirs.name() == ours.name())) {
      const std::string what = ours.number() > 0 ? fmt::format("id {}", ours.number()) : "name " + ours.name();
      bad_.push_back(fmt::format("{}: the {}{} is that of {} too; rename one of them, or leave one out", path, what,
                                 ours.level() > 0 ? fmt::format(" of level {}", ours.level()) : "", other.file));
      return;
    }
    if (theirs.source() == ours.source()) {
      bad_.push_back(fmt::format("{}: it has the same text as {}; leave one of them out", path, other.file));
      return;
    }
  }
  problems_.push_back(std::move(problem));
}

void ProblemSet::AddFilesOf(const std::string& folder, const v1::SearchSettings& settings) {
  std::vector<fs::path> files;
  for (const fs::path& entry : EntriesOf(folder)) {
    std::error_code ignored;
    if (entry.extension() == ".py" && !fs::is_directory(entry, ignored)) files.push_back(entry);
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    const std::string left = a.stem().string(), right = b.stem().string();
    return std::pair(NumberOf(left), left) < std::pair(NumberOf(right), right);
  });
  for (const fs::path& file : files) AddFile(file.string(), settings);
}

absl::Status ProblemSet::Add(const std::string& path, const v1::SearchSettings& settings) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    AddFile(path, settings);
    return absl::OkStatus();
  }
  std::vector<fs::path> levels = LevelsIn(path);
  if (levels.empty()) levels = LevelsIn(fs::path(path) / "KernelBench");
  const size_t before = problems_.size() + bad_.size();
  if (levels.empty()) {
    AddFilesOf(path, settings);
  } else {
    for (const fs::path& level : levels) AddFilesOf(level.string(), settings);
  }
  if (problems_.size() + bad_.size() > before) return absl::OkStatus();
  return InvalidArgument(fmt::format(
      "{}: there are no .py files in it; give a level's folder of KernelBench, or the folder above the levels", path));
}

absl::Status ProblemSet::AddList(const std::string& path, const v1::SearchSettings& settings) {
  absl::StatusOr<std::string> text = ReadFile(path, 16u << 20);
  if (!text.ok()) return InvalidArgument(Message(text.status()));
  if (!ValidUtf8(*text)) return InvalidArgument(path + ": it is not UTF-8 text; a list has a path in each line");
  std::istringstream lines(*text);
  std::string line;
  int number = 0, entries = 0;
  while (std::getline(lines, line)) {
    ++number;
    line = Trimmed(line);
    if (line.empty()) continue;
    ++entries;
    const absl::Status added = Add((fs::path(path).parent_path() / line).string(), settings);
    if (!added.ok()) return Annotate(added, fmt::format("{}:{}", path, number));
  }
  if (entries == 0) return InvalidArgument(path + ": the list is empty; write a path into each line");
  return absl::OkStatus();
}

std::vector<NamedProblem> ProblemSet::Sorted() const {
  std::vector<NamedProblem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const NamedProblem& a, const NamedProblem& b) { return PlaceOf(a) < PlaceOf(b); });
  return sorted;
}

void OverlaySettings(const v1::SearchSettings& over, v1::SearchSettings* base) {
  if (!over.accepted().empty()) base->clear_accepted();
  if (!over.models().empty()) base->clear_models();
  if (!over.model_split().empty()) base->clear_model_split();
  base->MergeFrom(over);
}

}  // namespace warpsmith::cli
