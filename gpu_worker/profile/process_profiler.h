// Profiles in a child process of its own, killed at its deadline. What the child says is checked before it is believed.
// Threading: safe from any thread; it blocks for as long as the profile takes.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_PROCESS_PROFILER_H_
#define WARPSMITH_GPU_WORKER_PROFILE_PROCESS_PROFILER_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_worker/profile/profiler.h"

namespace warpsmith::profile {

struct ProcessProfilerOptions {
  std::string program;                             // warpsmith-profiler's path
  std::map<std::string, std::string> environment;  // cuda::ChildEnvironment of the GPU
  std::vector<std::string> cupti_paths;            // FindCupti()
  std::vector<std::string> library_folders;        // where cuBLAS and cuDNN lie, besides the usual places
  bool restrict_files = true;                      // Landlock in the child, where the kernel has it
};

class ProcessProfiler final : public Profiler {
 public:
  explicit ProcessProfiler(ProcessProfilerOptions options) : options_(std::move(options)) {}
  absl::StatusOr<v1::Profile> Run(const executor::ExecutorSpec& spec, const ProfileRequest& request) override;

 private:
  const ProcessProfilerOptions options_;
};

// Takes a child's reply apart: bounds, finite numbers, plain text; then concludes. For `plan`, whose steps it names.
absl::StatusOr<v1::Profile> ReadReply(std::string_view reply, const v1::ExecutionPlan& plan);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_PROCESS_PROFILER_H_
