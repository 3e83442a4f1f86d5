// Candidates in KernelBench's form (a Python file with `class ModelNew`) on this machine: each in a locked-down process
// of its own, judged by the oracle, timed by this process's clock beside the module itself, which runs the same way.
// Threading: one thread at a time. Units: bytes, seconds, milliseconds where named so.
// Errors: FailedPrecondition where this machine lacks something, with the remedy; InvalidArgument for a problem that is
// refused; else the machine's fault. What is wrong with a candidate is in its verdict.
#ifndef WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_EVALUATOR_H_
#define WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_EVALUATOR_H_

#include <map>
#include <memory>
#include <string>

#include "gpu_worker/host_code/bench.h"
#include "gpu_worker/host_code/host_code_run.h"
#include "gpu_worker/reference/oracle.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::host_code {

struct HostCodeOptions {
  std::string device = "cpu";                      // or cuda:0, with an environment in which that is the one
  std::string device_name = "CPU (PyTorch)";       // in results
  std::map<std::string, std::string> environment;  // of processes on a GPU: cuda::ChildEnvironment
  int64_t gpu_memory_bytes = 0;                    // a share of it is left to candidates
  int threads = 0;                                 // of PyTorch; 0: as many as cores, at most 8
  uint64_t memory_bytes = 0;  // of the host, for a candidate; 0: half of what is available now, at most 32 GiB
  BenchOptions bench;
  HostCodeRunOptions run;
};

class HostCodeEvaluator {
 public:
  static absl::StatusOr<std::unique_ptr<HostCodeEvaluator>> Create(HostCodeOptions options);
  ~HostCodeEvaluator();

  absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source,
                                     const v1::IntakeSettings& settings);
  // What a problem costs once is kept for its next candidate. Settings are those that it was taken in with.
  absl::StatusOr<HostCodeVerdict> Evaluate(const v1::Problem& problem, const v1::IntakeSettings& settings,
                                           const HostCodeCandidate& candidate);

 private:
  HostCodeEvaluator(HostCodeOptions options, std::unique_ptr<reference::Oracle> oracle);
  absl::StatusOr<HostCodeVerdict> RunCandidate(const v1::Problem& problem, const v1::IntakeSettings& settings,
                                               const HostCodeCandidate& candidate);

  HostCodeOptions options_;
  const std::unique_ptr<reference::Oracle> oracle_;
  std::unique_ptr<Bench> bench_;
  std::string bench_of_;  // problem id
};

}  // namespace warpsmith::host_code

#endif  // WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_EVALUATOR_H_
