#include "cli/problem_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/text.h"
#include "common/file.h"

namespace warpsmith::cli {
namespace {

constexpr size_t kMaxBytes = 1u << 20;

absl::StatusOr<std::string> ReadSource(const std::string& path, const char* extension, const char* what) {
  const std::filesystem::path file(path);
  if (file.extension() != extension) {
    return InvalidArgument(fmt::format("{}: give {}, a file that ends in {}", path, what, extension));
  }
  auto source = ReadFile(file, kMaxBytes);
  if (!source.ok()) {
    // A wrong path is a wrong argument, whatever its reason.
    return InvalidArgument(Message(source.status()));
  }
  if (source->empty()) return InvalidArgument(fmt::format("{}: the file is empty; give {}", path, what));
  if (!ValidUtf8(*source))
    return InvalidArgument(fmt::format("{}: the file is not valid UTF-8; save it as UTF-8", path));
  return source;
}

}  // namespace

absl::StatusOr<ProblemFile> ReadProblemFile(const std::string& path) {
  ProblemFile problem;
  WARPSMITH_ASSIGN_OR_RETURN(problem.source, ReadSource(path, ".py", "a PyTorch module in KernelBench's format"));
  problem.name = std::filesystem::path(path).stem().string();
  return problem;
}

absl::StatusOr<std::string> ReadKernelFile(const std::string& path) {
  return ReadSource(path, ".cu", "a CUDA file with a warpsmith-plan comment");
}

}  // namespace warpsmith::cli
