#include "gpu_worker/reference/python_locator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "common/child_process.h"
#include "common/file.h"

namespace warpsmith::reference {
namespace {

constexpr char kProbe[] = "import sys, torch; print(sys.executable); print(torch.__version__)";
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
  const size_t line = ended->standard_output.find('\n');
  if (ended->timed_out || ended->signaled || ended->exit_code != 0 || line == std::string::npos) {
    const std::string said = LastLine(ended->standard_error);
    return FailedPrecondition(fmt::format("{}: {}", program, said.empty() ? ended->Describe() : said));
  }
  PythonInstallation found;
  found.path = ended->standard_output.substr(0, line);
  found.pytorch_version = LastLine(ended->standard_output);
  if (found.path.empty()) found.path = program;
  return found;
}

absl::StatusOr<PythonInstallation> FindPython() {
  static std::mutex mutex;
  static std::map<std::string, PythonInstallation> known;  // by WARPSMITH_PYTHON
  const char* set = std::getenv("WARPSMITH_PYTHON");
  const std::string chosen = set != nullptr ? set : "";
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(chosen); found != known.end()) return found->second;

  const std::vector<std::string> programs =
      chosen.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"} : std::vector<std::string>{chosen};
  std::string tried;
  for (const std::string& program : programs) {
    absl::StatusOr<PythonInstallation> found = ProbePython(program);
    if (found.ok()) return known[chosen] = *found;
    tried += (tried.empty() ? "" : "; ") + Message(found.status());
  }
  return FailedPrecondition(
      fmt::format("no Python here can import PyTorch ({}; packages in a home folder are not looked at). Install it "
                  "(Debian: python3-torch), or {} WARPSMITH_PYTHON to the interpreter of an environment that has it",
                  tried, chosen.empty() ? "set" : "change"));
}

}  // namespace warpsmith::reference
