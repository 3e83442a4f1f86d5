// Executors as child processes, from a pool of warm ones that wait for a spec.
// Threading: the factory is safe from any thread; it outlives its executors.
// Units: seconds. Errors: as executor.h says.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_PROCESS_EXECUTOR_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_PROCESS_EXECUTOR_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/child_process.h"
#include "gpu_worker/executor/child_pool.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {

struct ProcessExecutorOptions {
  std::string program;  // warpsmith-executor's path
  RefillLimits refill;  // children kept warm, and how they are made
  bool cuda = false;
  // All that children get: of a GPU, cuda::ChildEnvironment's.
  std::map<std::string, std::string> environment;
  std::vector<std::string> library_folders;  // where cuBLAS and cuDNN lie; empty: library::FindLibraryFolders'
  // On a GPU: Landlock, where the kernel has it. Without: for a driver that needs files that are not foreseen.
  bool restrict_files = true;
};

class ProcessExecutor final : public Executor {
 public:
  // Sends the spec to a warm child and waits until it is locked down. `note`: what its sandbox could not have.
  static absl::StatusOr<std::unique_ptr<Executor>> Start(std::unique_ptr<ChildProcess> child, const ExecutorSpec& spec,
                                                         bool cuda, ChildPool& pool, std::string& note);
  ~ProcessExecutor() override;
  RunReport Run(const RunRequest& request) override;
  RunReport Time(const TimeRequest& request) override;

 private:
  ProcessExecutor(std::unique_ptr<ChildProcess> child, std::string nonce, bool cuda, ChildPool& pool)
      : child_(std::move(child)), nonce_(std::move(nonce)), cuda_(cuda), pool_(pool) {}
  double HostSeconds() const;
  RunReport Ask(const wire::Request& request, double limit_seconds);
  absl::StatusOr<wire::Report> ReadReport(Duration limit);
  bool IsSane(const wire::Report& report) const;
  RunReport Ended(v1::Outcome outcome, std::string message);
  RunReport Explain(const absl::Status& status, double limit_seconds);

  std::unique_ptr<ChildProcess> child_;  // null once it has ended
  std::string nonce_;
  const bool cuda_;
  ChildPool& pool_;
  uint32_t sequence_ = 0;
  RunReport last_;
};

class ProcessExecutorFactory final : public ExecutorFactory {
 public:
  explicit ProcessExecutorFactory(const ProcessExecutorOptions& options);
  // On the emulated device.
  explicit ProcessExecutorFactory(std::string program, RefillLimits refill = {});
  ~ProcessExecutorFactory() override;
  absl::StatusOr<std::unique_ptr<Executor>> Start(const ExecutorSpec& spec) override;
  void SetQuiet(bool quiet) override;
  bool Wedged() const override;

 private:
  const bool cuda_;
  std::atomic<bool> told_note_{false};
  ChildPool pool_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_PROCESS_EXECUTOR_H_
