#include "cli/transfer/kernel_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "cli/text.h"
#include "common/file.h"

namespace warpsmith::transfer {
namespace {

// A problem's name is somebody's text: here it becomes the name of a file.
std::string FileStem(const std::string& name) {
  std::string stem;
  for (const unsigned char c : name) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    stem += plain ? static_cast<char>(c) : '_';
  }
  return stem.empty() ? "problem" : stem.substr(0, 120);
}

}  // namespace

absl::StatusOr<KernelFiles> KernelFiles::Create(const std::filesystem::path& folder, KernelFormat format) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) &&
      (!std::filesystem::is_directory(folder, error) || !std::filesystem::is_empty(folder, error))) {
    return InvalidArgument(fmt::format("-o: {} exists and is no empty folder; name another", folder.string()));
  }
  WARPSMITH_ASSIGN_OR_RETURN(PythonModules modules, PythonModules::LoadShipped());
  WARPSMITH_ASSIGN_OR_RETURN(CudaPrograms programs, CudaPrograms::LoadShipped());
  std::filesystem::path partial = folder;
  if (!partial.has_filename()) partial = partial.parent_path();
  partial += fmt::format(".{}.partial", ::getpid());
  std::filesystem::create_directories(partial, error);
  if (error) return FailedPrecondition(fmt::format("{}: {}", partial.string(), error.message()));
  return KernelFiles(folder, partial, format, std::move(modules), std::move(programs));
}

KernelFiles::~KernelFiles() {
  std::error_code error;
  if (!partial_.empty()) std::filesystem::remove_all(partial_, error);
}

std::string KernelFiles::FileFor(const v1::ExportedProblem& problem) {
  v1::ExportedProblem named;
  named.mutable_problem()->set_name(FileStem(problem.problem().name()));
  named.set_level(problem.level());
  named.set_number(problem.number());
  std::string folder, name;
  if (format_ == KernelFormat::kKernelBench) {
    folder = LevelFolder(named);
    name = KernelFileName(named);
  } else {
    name = Identifier(named.problem().name()) + (format_ == KernelFormat::kCuda ? ".cu" : ".py");
  }
  const std::string plain = (folder.empty() ? "" : folder + "/") + name;
  // Two problems of one name: the second one's file tells them apart.
  std::string file = plain;
  const size_t dot = plain.rfind('.');
  if (files_.count(file) > 0) {
    file = fmt::format("{}_{}{}", plain.substr(0, dot), problem.problem().id().substr(0, 8), plain.substr(dot));
  }
  files_.insert(file);
  return file;
}

absl::StatusOr<std::string> KernelFiles::Text(const v1::ExportedProblem& problem, const std::string& file) const {
  WARPSMITH_ASSIGN_OR_RETURN(const KernelSource source, ReadKernelSource(problem));
  switch (format_) {
    case KernelFormat::kKernelBench:
      return modules_.ModelNew(source);
    case KernelFormat::kPyTorch:
      return modules_.Operator(source, fmt::format("warpsmith_{}_{}", Identifier(source.name),
                                                   problem.kernel().source_sha256().substr(0, 8)));
    case KernelFormat::kCuda:
      return programs_.Program(source, file);
  }
  return Internal("a format that is none");
}

absl::Status KernelFiles::Add(const v1::ExportedProblem& problem) {
  if (problem.has_kernel()) {
    if (device_class_.empty()) device_class_ = problem.kernel().device_class();
    if (problem.kernel().device_class() != device_class_) {
      return InvalidArgument(fmt::format("there are kernels of {} and of {}: choose one with --device-class",
                                         cli::Line(device_class_), cli::Line(problem.kernel().device_class())));
    }
  }
  if (!problem_ids_.insert(problem.problem().id()).second && problem.state() == v1::SEARCH_STATE_UNSPECIFIED) {
    return absl::OkStatus();  // the bank's kernel of another precision class
  }
  Problem told{cli::Line(problem.problem().name()), "", ""};
  if (!problem.has_kernel()) {
    told.error = problem.error().empty() ? "it has no correct kernel" : cli::Line(problem.error());
  } else {
    const std::string file = FileFor(problem);
    auto text = Text(problem, file);
    if (text.ok()) {
      WARPSMITH_RETURN_IF_ERROR(AddFile(file, *text));
      told.file = file;
    } else if (text.status().code() == absl::StatusCode::kInvalidArgument) {
      told.error = cli::Line(Message(text.status()));
    } else {
      return text.status();
    }
  }
  if (format_ == KernelFormat::kKernelBench) {
    results_[LevelFolder(problem)][ResultKey(problem)] =
        EvaluationResult(problem, problem.has_kernel() ? told.error : "");
    fast_p_.Add(problem);
  }
  problems_.push_back(std::move(told));
  return absl::OkStatus();
}

absl::Status KernelFiles::AddFile(const std::string& name, const std::string& text) {
  const std::filesystem::path path = partial_ / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  return WriteFileAtomically(path, text);
}

absl::Status KernelFiles::Finish() {
  for (const auto& [folder, results] : results_) {
    const std::string name = (folder.empty() ? "" : folder + "/") + std::string("eval_results.json");
    WARPSMITH_RETURN_IF_ERROR(AddFile(name, results.dump(4, ' ', false, Json::error_handler_t::replace) + "\n"));
  }
  if (format_ == KernelFormat::kKernelBench) {
    WARPSMITH_RETURN_IF_ERROR(AddFile("fast_p.json", fast_p_.ToJson().dump(2) + "\n"));
  }
  std::error_code error;
  std::filesystem::remove(folder_, error);  // an empty one
  std::filesystem::rename(partial_, folder_, error);
  if (error) return FailedPrecondition(fmt::format("{}: {}", folder_.string(), error.message()));
  partial_.clear();
  return absl::OkStatus();
}

}  // namespace warpsmith::transfer
