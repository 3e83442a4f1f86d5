// Whole Python files out of a kernel: the plan, the launcher that ships with warpsmith (cli/transfer/python), and a
// class that people and evaluators use.
// Threading: immutable after Load. Errors: NotFound where the shipped files are missing; InvalidArgument for what
// cannot be expressed.
#ifndef WARPSMITH_CLI_TRANSFER_PYTHON_MODULE_H_
#define WARPSMITH_CLI_TRANSFER_PYTHON_MODULE_H_

#include <string>

#include "cli/transfer/kernel_source.h"

namespace warpsmith::transfer {

class PythonModules {
 public:
  static absl::StatusOr<PythonModules> LoadShipped();

  // class ModelNew: what KernelBench's evaluator takes. Its constructor is the problem's own, so that the same seed
  // gives the same parameters.
  absl::StatusOr<std::string> ModelNew(const KernelSource& kernel) const;
  // An importable module: an operator registered with torch.library (CUDA and meta), and class Module that calls it.
  // `name_space` is the operator's.
  absl::StatusOr<std::string> Operator(const KernelSource& kernel, const std::string& name_space) const;

 private:
  absl::StatusOr<std::string> Beginning(const KernelSource& kernel, const std::string& what) const;

  std::string launcher_;
  std::string library_steps_;
};

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_PYTHON_MODULE_H_
