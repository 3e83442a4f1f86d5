// Executors as child processes, from a pool of idle ones that wait for a spec; the pool refills in the background.
// Threading: the factory is safe from any thread. The kernel ends children together with the thread that started them,
// which is the factory's: it outlives its executors.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_PROCESS_EXECUTOR_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_PROCESS_EXECUTOR_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/child_process.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {

class ProcessExecutor final : public Executor {
 public:
  // Sends the spec to an idle child and waits until it is locked down.
  static absl::StatusOr<std::unique_ptr<Executor>> Start(std::unique_ptr<ChildProcess> child, const ExecutorSpec& spec);
  ~ProcessExecutor() override;
  RunReport Run(const RunRequest& request) override;
  RunReport Time(const TimeRequest& request) override;

 private:
  ProcessExecutor(std::unique_ptr<ChildProcess> child, std::string nonce)
      : child_(std::move(child)), nonce_(std::move(nonce)) {}
  RunReport Ask(const wire::Request& request, double limit_seconds);
  absl::StatusOr<wire::Report> ReadReport(Duration limit);
  RunReport Ended(v1::Outcome outcome, std::string message);
  RunReport Explain(const absl::Status& status, double limit_seconds);

  std::unique_ptr<ChildProcess> child_;  // null once it has ended
  std::string nonce_;
  uint32_t sequence_ = 0;
  RunReport last_;
};

class ProcessExecutorFactory final : public ExecutorFactory {
 public:
  // `program`: warpsmith-executor's path. Keeps `idle` children ready.
  explicit ProcessExecutorFactory(std::string program, int idle = 2);
  ~ProcessExecutorFactory() override;
  absl::StatusOr<std::unique_ptr<Executor>> Start(const ExecutorSpec& spec) override;

 private:
  void Refill();
  absl::StatusOr<std::unique_ptr<ChildProcess>> TakeIdle();

  const std::string program_;
  const int idle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<ChildProcess>> ready_;  // guarded by mutex_, as all below
  int waiting_ = 0;
  absl::Status failure_;  // of the last attempt
  bool stopping_ = false;
  std::thread refill_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_PROCESS_EXECUTOR_H_
