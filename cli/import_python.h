// `warpsmith import` of candidates in Python: a file with `class ModelNew`, or a folder as KernelBench's runs have it.
// They are judged and timed on this machine and become rows that are printed and, with --output, written; never kernels
// of the bank.
// Threading: one thread. Errors: printed; the return value is the exit code (3: one of them is not valid).
#ifndef WARPSMITH_CLI_IMPORT_PYTHON_H_
#define WARPSMITH_CLI_IMPORT_PYTHON_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/host_code_session.h"

namespace warpsmith::cli {

struct PythonImportOptions {
  std::string path;    // a .py file, or a folder
  std::string module;  // the problem's file; of a folder: a folder with KernelBench's levels, or one problem for all
  std::string output;  // rows as JSON lines; empty: none
  HostCodeSettings settings;
};

struct PythonCandidate {
  std::filesystem::path file;
  std::filesystem::path module;
};

// What `path` holds, sorted by the candidate's name: of a folder, files named level_L_problem_P_sample_S_kernel.py
// wherever in it, with level L's problem P of `module`; every other .py file only where `module` is one file.
absl::StatusOr<std::vector<PythonCandidate>> FindPythonCandidates(const std::string& path, const std::string& module);

// What a build without host code answers.
absl::Status BuiltWithoutHostCode();

int ImportPython(Context& context, const PythonImportOptions& options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_IMPORT_PYTHON_H_
