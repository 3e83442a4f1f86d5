#include "cli/import_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <regex>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/print_evaluation.h"
#include "cli/problem_file.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/json.h"
#include "common/protocol_names.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 1u << 20;
constexpr size_t kMostFiles = 10000;

std::vector<fs::path> PythonFilesBelow(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".py" && entry->is_regular_file(error)) files.push_back(entry->path());
    if (files.size() >= kMostFiles) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Level L's problem P of a KernelBench checkout, or of the folder that holds its levels.
std::optional<fs::path> ProblemOf(const fs::path& folder, const std::string& level, const std::string& problem) {
  const std::string name = "level" + level;
  for (const fs::path& place : {folder / name, folder / "KernelBench" / name, folder}) {
    if (place == folder && folder.filename() != name) continue;
    for (const fs::path& entry : EntriesOf(place)) {
      if (entry.extension() == ".py" && entry.filename().string().starts_with(problem + "_")) return entry;
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::string> ReadCandidate(const fs::path& path) {
  absl::StatusOr<std::string> source = ReadFile(path, kMostBytes);
  if (!source.ok()) return InvalidArgument(Message(source.status()));
  if (!ValidUtf8(*source)) {
    return InvalidArgument(fmt::format("{}: the file is not valid UTF-8; save it as UTF-8", path.string()));
  }
  return source;
}

Json RowToJson(const PythonCandidate& candidate, const v1::Problem& problem, const HostCodeRow& row) {
  const v1::Evaluation& evaluation = row.evaluation;
  Json json = {{"execution_class", "host_code"},
               {"file", candidate.file.string()},
               {"problem", {{"id", problem.id()}, {"name", problem.name()}}},
               {"outcome", OutcomeName(evaluation.outcome())},
               {"weights", row.weights},
               {"evaluation", Json::parse(MessageToJson(evaluation), nullptr, false)}};
  if (evaluation.has_timing()) {
    json["ms"] = evaluation.timing().median_ms();
    json["reference_ms"] = evaluation.timing().anchor_ms();
    json["reference_spread"] = row.reference_spread;
    json["ratio_to_eager"] = evaluation.ratio_to_eager();
    json["calls_per_batch"] = row.calls;
    json["batches"] = row.batches;
    json["request_ms"] = row.request_ms;
  }
  return json;
}

std::string WeightsText(const std::string& how) {
  if (how == "name") return "the module's, by name";
  if (how == "order") return "the module's, in the constructors' order";
  if (how == "seed") return "its constructor's, from the module's seed: its parameters are not the module's";
  return "none";
}

std::string RowText(const PythonCandidate& candidate, const v1::Problem& problem, const HostCodeRow& row) {
  std::string text = fmt::format("{} for {} (host code)\n{}", Line(candidate.file.string()), Line(problem.name()),
                                 EvaluationText(row.evaluation));
  if (!row.weights.empty()) text += fmt::format("  {:<13} {}\n", "weights", WeightsText(row.weights));
  if (!row.evaluation.has_timing()) return text;
  const v1::Timing& timing = row.evaluation.timing();
  text += fmt::format("  {:<13} {:.2f} times as fast as the module itself, which took {} ms the same way\n", "ratio",
                      row.evaluation.ratio_to_eager(), FormatMs(timing.anchor_ms()));
  text += fmt::format(
      "  {:<13} {} batches of {} calls, each on new inputs; {} ms a batch are the request's and left "
      "out; Python and the copy of the output are in both times\n",
      "taken", row.batches, row.calls, FormatMs(row.request_ms));
  return text;
}

// A problem is taken in once, with what stands in its way.
class Problems {
 public:
  explicit Problems(HostCodeSession& session) : session_(session) {}

  const absl::StatusOr<v1::Problem>& Get(const fs::path& file) {
    const auto known = known_.find(file.string());
    if (known != known_.end()) return known->second;
    return known_.emplace(file.string(), Take(file)).first->second;
  }

 private:
  absl::StatusOr<v1::Problem> Take(const fs::path& file) {
    WARPSMITH_ASSIGN_OR_RETURN(const ProblemFile problem, ReadProblemFile(file.string()));
    return session_.TakeIn(problem.name, problem.source);
  }

  HostCodeSession& session_;
  std::map<std::string, absl::StatusOr<v1::Problem>> known_;
};

absl::StatusOr<HostCodeRow> Judge(HostCodeSession& session, const PythonCandidate& candidate,
                                  const absl::StatusOr<v1::Problem>& problem) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string source, ReadCandidate(candidate.file));
  WARPSMITH_RETURN_IF_ERROR(problem.status());
  return session.Evaluate(*problem, source);
}

}  // namespace

absl::Status BuiltWithoutHostCode() {
  return FailedPrecondition("this warpsmith was built without host code (part gpu_worker/host_code); build all parts");
}

absl::StatusOr<std::vector<PythonCandidate>> FindPythonCandidates(const std::string& path, const std::string& module) {
  if (module.empty()) {
    return InvalidArgument(
        fmt::format("{}: a Python candidate needs the problem that it is for: --module PROBLEM.py, "
                    "or of a folder --module KERNELBENCH_FOLDER",
                    path));
  }
  std::error_code error;
  const bool one_module = !fs::is_directory(module, error);
  if (!fs::is_directory(path, error)) {
    if (one_module) return std::vector<PythonCandidate>{{path, module}};
    return InvalidArgument(fmt::format("{}: one candidate is for one problem: name its file as --module", module));
  }
  static const std::regex name(R"(level_(\d+)_problem_(\d+)_sample_\d+_kernel\.py)");
  std::vector<PythonCandidate> found;
  for (const fs::path& file : PythonFilesBelow(path)) {
    const std::string text = file.filename().string();
    std::smatch parts;
    if (one_module) {
      found.push_back({file, module});
    } else if (std::regex_match(text, parts, name)) {
      const std::optional<fs::path> problem = ProblemOf(module, parts[1].str(), parts[2].str());
      if (!problem) {
        return InvalidArgument(fmt::format("{}: there is no level{}/{}_*.py in {}", file.string(), parts[1].str(),
                                           parts[2].str(), module));
      }
      found.push_back({file, *problem});
    }
  }
  if (found.empty()) {
    return InvalidArgument(
        fmt::format("{}: it holds neither kernels.bank nor files named "
                    "level_1_problem_1_sample_0_kernel.py",
                    path));
  }
  return found;
}

int ImportPython(Context& context, const PythonImportOptions& options) {
  const absl::StatusOr<std::vector<PythonCandidate>> candidates = FindPythonCandidates(options.path, options.module);
  if (!candidates.ok()) return Fail(context, candidates.status());
  if (!context.host_code) return Fail(context, BuiltWithoutHostCode());
  auto session = context.host_code(options.settings);
  if (!session.ok()) return Fail(context, session.status());
  Problems problems(**session);
  Json rows = Json::array();
  std::string lines;
  int worst = kExitOk;
  for (const PythonCandidate& candidate : *candidates) {
    if (Interrupted()) {
      worst = Fail(context, Cancelled(fmt::format("interrupted before {}", candidate.file.string())));
      break;
    }
    const absl::StatusOr<v1::Problem>& problem = problems.Get(candidate.module);
    const absl::StatusOr<HostCodeRow> row = Judge(**session, candidate, problem);
    if (!row.ok()) {
      if (candidates->size() == 1) return Fail(context, row.status());
      worst = Fail(context, Annotate(row.status(), candidate.file.string()));
      continue;
    }
    if (row->evaluation.outcome() != v1::OUTCOME_OK && worst == kExitOk) worst = kExitNothing;
    Json json = RowToJson(candidate, *problem, *row);
    lines += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (context.json) {
      rows.push_back(std::move(json));
    } else {
      context.out << RowText(candidate, *problem, *row) << std::flush;
    }
  }
  if (!options.output.empty()) {
    if (absl::Status written = WriteFileAtomically(options.output, lines); !written.ok()) return Fail(context, written);
  }
  if (context.json) {
    context.out << Json{{"rows", rows}}.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
  return worst;
}

}  // namespace warpsmith::cli
