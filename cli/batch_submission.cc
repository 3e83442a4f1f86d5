#include "cli/batch_submission.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/names.h"
#include "cli/problem_manifest.h"
#include "coordinator/search/settings.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kUsualParallel = 8;
constexpr size_t kMostBadShown = 20;

std::string NameOfPath(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(path, ignored);
  return fs::is_directory(whole, ignored) ? whole.filename().string() : whole.stem().string();
}

std::string ListOf(const std::vector<std::string>& bad) {
  std::string list;
  for (size_t i = 0; i < bad.size() && i < kMostBadShown; ++i) list += "\n  " + bad[i];
  if (bad.size() > kMostBadShown) list += fmt::format("\n  and {} more", bad.size() - kMostBadShown);
  return list;
}

absl::StatusOr<v1::SearchSettings> OfCommandLine(const SearchOptions& options) {
  v1::SearchSettings settings = options.settings;
  for (const std::string& name : options.accepted) {
    WARPSMITH_ASSIGN_OR_RETURN(const v1::PrecisionClass precision, ParsePrecision(name));
    settings.add_accepted(precision);
  }
  return settings;
}

void ApplyOptions(const BatchOptions& options, BatchSubmission* submission) {
  if (!options.name.empty()) submission->name = options.name;
  if (!options.owner.empty()) submission->owner = options.owner;
  v1::BatchLimits& limits = submission->limits;
  if (options.priority) limits.set_priority(*options.priority);
  if (options.parallel) limits.set_parallel(*options.parallel);
  if (options.max_usd) limits.set_max_usd(*options.max_usd);
  if (options.max_tokens) limits.set_max_tokens(*options.max_tokens);
  if (options.max_gpu_hours) limits.set_max_gpu_hours(*options.max_gpu_hours);
  if (limits.parallel() < 0) limits.set_parallel(kUsualParallel);
}

}  // namespace

absl::StatusOr<BatchSubmission> ReadSubmission(const BatchOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const v1::SearchSettings given, OfCommandLine(options.search));
  BatchSubmission submission;
  submission.limits.set_parallel(-1);
  ProblemSet set;
  std::error_code ignored;
  for (const std::string& path : options.paths) {
    if (!fs::exists(path, ignored)) {
      return InvalidArgument(fmt::format(
          "{}: there is no such file or folder; give a level of KernelBench, a .py file, a list or a manifest", path));
    }
    if (fs::is_directory(path, ignored) || fs::path(path).extension() == ".py") {
      WARPSMITH_RETURN_IF_ERROR(set.Add(path, given));
    } else if (IsManifest(path)) {
      WARPSMITH_ASSIGN_OR_RETURN(const ProblemManifest manifest, ReadManifest(path));
      if (submission.name.empty()) submission.name = manifest.name;
      if (submission.owner.empty()) submission.owner = manifest.owner;
      submission.limits = manifest.limits;
      for (const ManifestEntry& entry : manifest.problems) {
        v1::SearchSettings settings = manifest.settings;
        OverlaySettings(given, &settings);
        OverlaySettings(entry.settings, &settings);
        WARPSMITH_RETURN_IF_ERROR(Annotate(search::ResolveSettings(settings).status(), path));
        WARPSMITH_RETURN_IF_ERROR(set.Add(entry.path, settings));
      }
    } else {
      WARPSMITH_RETURN_IF_ERROR(set.AddList(path, given));
    }
    if (submission.name.empty()) submission.name = NameOfPath(path);
  }
  if (!set.bad().empty() && !options.skip_bad) {
    return InvalidArgument(
        fmt::format("{} of the files cannot be searched; nothing was submitted (--skip-bad goes on "
                    "without them):{}",
                    set.bad().size(), ListOf(set.bad())));
  }
  submission.problems = set.Sorted();
  submission.skipped = set.bad();
  if (submission.problems.empty()) {
    return InvalidArgument(fmt::format("none of the files can be searched:{}", ListOf(set.bad())));
  }
  ApplyOptions(options, &submission);
  return submission;
}

std::vector<std::vector<const NamedProblem*>> SplitProblems(const std::vector<NamedProblem>& problems,
                                                            size_t most_bytes) {
  std::vector<std::vector<const NamedProblem*>> parts;
  size_t bytes = 0;
  for (const NamedProblem& problem : problems) {
    const size_t size = problem.source.ByteSizeLong() + 16;
    if (parts.empty() || bytes + size > most_bytes) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().push_back(&problem);
    bytes += size;
  }
  return parts;
}

}  // namespace warpsmith::cli
