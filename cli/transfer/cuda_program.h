// A kernel as plain CUDA C++: the candidate's source, a host function that launches the plan's steps, and a small main
// that runs and times it. It compiles by nvcc alone.
// Threading: pure functions. Errors: InvalidArgument names the step that cannot be expressed.
#ifndef WARPSMITH_CLI_TRANSFER_CUDA_PROGRAM_H_
#define WARPSMITH_CLI_TRANSFER_CUDA_PROGRAM_H_

#include <string>

#include "cli/transfer/kernel_source.h"

namespace warpsmith::transfer {

class CudaPrograms {
 public:
  static absl::StatusOr<CudaPrograms> LoadShipped();
  absl::StatusOr<std::string> Program(const KernelSource& kernel, const std::string& file_name) const;

 private:
  std::string launcher_;
  std::string main_;
};

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_CUDA_PROGRAM_H_
