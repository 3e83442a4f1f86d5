// The folder that an export of kernels writes: a file a problem, what could not be written with the reason, and for
// KernelBench the results in its schema. The folder has its name only once it is whole.
// Threading: one thread. Errors: name the file or folder and the remedy; a problem that cannot be expressed is told of
// and does not end the export.
#ifndef WARPSMITH_CLI_TRANSFER_KERNEL_FILES_H_
#define WARPSMITH_CLI_TRANSFER_KERNEL_FILES_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/transfer/cuda_program.h"
#include "cli/transfer/kernelbench_results.h"
#include "cli/transfer/python_module.h"

namespace warpsmith::transfer {

enum class KernelFormat { kKernelBench, kPyTorch, kCuda };

class KernelFiles {
 public:
  struct Problem {
    std::string name;
    std::string file;   // below the folder; empty: none was written
    std::string error;  // why; empty: it was written
  };

  // InvalidArgument where `folder` exists and is not empty.
  static absl::StatusOr<KernelFiles> Create(const std::filesystem::path& folder, KernelFormat format);
  ~KernelFiles();
  KernelFiles(KernelFiles&&) = default;

  // The best kernel of each problem comes first; a second one of the same problem is left out. InvalidArgument for a
  // kernel of another class of device than the first.
  absl::Status Add(const v1::ExportedProblem& problem);
  absl::Status AddFile(const std::string& name, const std::string& text);
  absl::Status Finish();

  const std::vector<Problem>& problems() const { return problems_; }
  const FastP& fast_p() const { return fast_p_; }

 private:
  KernelFiles(std::filesystem::path folder, std::filesystem::path partial, KernelFormat format, PythonModules modules,
              CudaPrograms programs)
      : folder_(std::move(folder)),
        partial_(std::move(partial)),
        format_(format),
        modules_(std::move(modules)),
        programs_(std::move(programs)) {}
  absl::StatusOr<std::string> Text(const v1::ExportedProblem& problem, const std::string& file) const;
  std::string FileFor(const v1::ExportedProblem& problem);

  std::filesystem::path folder_, partial_;
  KernelFormat format_;
  PythonModules modules_;
  CudaPrograms programs_;
  std::vector<Problem> problems_;
  std::set<std::string> files_, problem_ids_;
  std::string device_class_;
  std::map<std::string, Json> results_;  // by level's folder: number or name -> samples
  FastP fast_p_;
};

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_KERNEL_FILES_H_
