// A kernel as the exporters need it: its problem's signature, its parsed plan with the tuning values that its figures
// are of, and what it was measured on.
// Threading: plain values. Errors: InvalidArgument says what of the kernel cannot be used, and why.
#ifndef WARPSMITH_CLI_TRANSFER_KERNEL_SOURCE_H_
#define WARPSMITH_CLI_TRANSFER_KERNEL_SOURCE_H_

#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/candidate.h"
#include "gpu_worker/plan/tensor_table.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::transfer {

struct KernelSource {
  std::string name;  // of the problem, as a file's name
  std::string reference;
  v1::ProblemSignature signature;
  plan::Candidate candidate;
  std::vector<plan::Tensor> tensors;  // the signature's, then the plan's scratch
  plan::TuneAssignment tune;
  std::vector<std::string> options;  // of the compiler, tuning values included
  std::string origin;                // one line: where it comes from and how fast it is there

  // Null for a name that is none.
  const plan::Tensor* Find(const std::string& tensor) const;
  const v1::TensorSpec* FindSpec(const std::string& tensor) const;
};

// Of a problem that has a kernel.
absl::StatusOr<KernelSource> ReadKernelSource(const v1::ExportedProblem& problem);

// Tensors that steps use, in the order of first use.
std::vector<std::string> TensorsOf(const std::vector<plan::Step>& steps);

// A problem's or kernel's name as an identifier of Python and C++.
std::string Identifier(const std::string& name);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_KERNEL_SOURCE_H_
