#include "gpu_worker/reference/python_locator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/run_child.h"

namespace warpsmith::reference {
namespace {

constexpr char kProbe[] =
    "import sys, torch; print(sys.executable); print(torch.__version__); print(torch.version.cuda or 'none')";
constexpr std::chrono::seconds kProbeDeadline(90);  // a cold import of PyTorch from a slow disk

// The last line that says something: Python's own error.
std::string LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

}  // namespace

std::map<std::string, std::string> PythonEnvironment(const std::string& home, int threads) {
  const char* path = std::getenv("PATH");
  const std::string count = std::to_string(threads);
  return {{"PATH", path != nullptr && *path != '\0' ? path : "/usr/local/bin:/usr/bin:/bin"},
          {"HOME", home},
          {"TMPDIR", home},
          {"LANG", "C.UTF-8"},
          {"OMP_NUM_THREADS", count},
          {"MKL_NUM_THREADS", count},
          {"OPENBLAS_NUM_THREADS", count},
          {"PYTHONDONTWRITEBYTECODE", "1"},
          {"PYTHONNOUSERSITE", "1"}};
}

absl::StatusOr<PythonInstallation> ProbePython(const std::string& program) {
  WARPSMITH_ASSIGN_OR_RETURN(const TemporaryDirectory home, TemporaryDirectory::Create("warpsmith-python-"));
  ChildOptions options;
  options.arguments = {program, "-c", kProbe};
  options.environment = PythonEnvironment(home.path().string(), 1);
  options.working_directory = home.path().string();
  const absl::StatusOr<ChildExit> ended = RunChild(options, "", kProbeDeadline);
  if (!ended.ok()) return FailedPrecondition(fmt::format("{}: {}", program, Message(ended.status())));
  std::istringstream lines(ended->standard_output);
  PythonInstallation found;
  std::getline(lines, found.path);
  std::getline(lines, found.pytorch_version);
  std::getline(lines, found.cuda_version);
  if (ended->timed_out || ended->signaled || ended->exit_code != 0 || found.cuda_version.empty()) {
    const std::string said = LastLine(ended->standard_error);
    return FailedPrecondition(fmt::format("{}: {}", program, said.empty() ? ended->Describe() : said));
  }
  if (found.cuda_version == "none") found.cuda_version.clear();
  if (found.path.empty()) found.path = program;
  return found;
}

absl::StatusOr<PythonInstallation> FindPython(bool with_cuda) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, bool>, PythonInstallation> known;  // by WARPSMITH_PYTHON and with_cuda
  const char* set = std::getenv("WARPSMITH_PYTHON");
  const std::string chosen = set != nullptr ? set : "";
  const std::lock_guard lock(mutex);
  if (const auto found = known.find({chosen, with_cuda}); found != known.end()) return found->second;

  const std::vector<std::string> programs =
      chosen.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"} : std::vector<std::string>{chosen};
  std::string tried;
  for (const std::string& program : programs) {
    absl::StatusOr<PythonInstallation> found = ProbePython(program);
    if (found.ok() && (!with_cuda || !found->cuda_version.empty())) return known[{chosen, with_cuda}] = *found;
    const std::string why =
        found.ok() ? fmt::format("{}: its PyTorch {} is built for CPUs only", found->path, found->pytorch_version)
                   : Message(found.status());
    tried += (tried.empty() ? "" : "; ") + why;
  }
  return FailedPrecondition(
      fmt::format("no Python here can import PyTorch{} ({}; packages in a home folder are not looked at). Install it "
                  "({}), or {} WARPSMITH_PYTHON to the interpreter of an environment that has it",
                  with_cuda ? " with CUDA" : "", tried,
                  with_cuda ? "pip install torch, in an environment of its own" : "Debian: python3-torch",
                  chosen.empty() ? "set" : "change"));
}

}  // namespace warpsmith::reference
