// Finds a Python that can run PyTorch, on a GPU where that is asked for: WARPSMITH_PYTHON where it is set, else python3
// of PATH, else /usr/bin/python3.
// Threading: safe from any thread; what was found is kept for the process's life.
// Errors: FailedPrecondition names what was tried, what each said, and the remedy.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_LOCATOR_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_LOCATOR_H_

#include <map>
#include <string>

#include "common/status.h"

namespace warpsmith::reference {

struct PythonInstallation {
  std::string path;  // absolute, the interpreter itself (no version manager's wrapper)
  std::string pytorch_version;
  std::string cuda_version;  // that PyTorch was built with; empty: for CPUs only
};

absl::StatusOr<PythonInstallation> FindPython(bool with_cuda = false);

// Asks one interpreter. Not kept.
absl::StatusOr<PythonInstallation> ProbePython(const std::string& program);

// The environment of a Python of ours: nothing inherited but PATH; `home` is also where temporary files go.
std::map<std::string, std::string> PythonEnvironment(const std::string& home, int threads);

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_LOCATOR_H_
