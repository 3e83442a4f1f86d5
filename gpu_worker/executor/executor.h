// Running a compiled candidate: one fresh, locked-down process each, which maps the oracle's buffers and nothing else
// of ours. This is the evaluator's side.
// Threading: an Executor is used from one thread at a time; factories are safe from any thread.
// Units: bytes, seconds (processor time on the emulated device, which shares its cores; limits are wall time).
// Errors: what becomes of a candidate is an Outcome in the report; a Status from Start means
// that no executor could be made, which is the machine's fault.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_EXECUTOR_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/reference/shared_buffer.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

// The oracle's memory. The executor maps each buffer whole, so that a write past the payload lands in a guard, where
// the oracle finds it, or stops the candidate.
using reference::SharedBuffer;

struct ExecutorSpec {
  std::string artifact_path;
  v1::ExecutionPlan plan;
  std::vector<std::vector<SharedBuffer>> slots;  // slots[s][b] for plan.buffers(b)
  // What the process may map beyond its own code and the buffers: stacks, the candidate's heap; 0: 2 GiB.
  int64_t address_space_bytes = 0;
};

// Fills of shared memory: NaN as a float and a large negative integer, or a large finite float.
inline constexpr uint32_t kSharedPoison = 0xffdeadc5;
inline constexpr uint32_t kSharedLargeFinite = 0x7e967699;  // 1e38f

struct RunRequest {
  int slot = 0;
  uint64_t order_seed = 0;  // order of blocks and threads; 0: the natural one
  uint32_t shared_fill = kSharedPoison;
  double limit_seconds = 10;  // for all repetitions; the process is killed at it
  int repetitions = 1;
};

struct TimeRequest {
  std::vector<int> slots;  // used in turn
  int warmups = 1;
  int samples = 10;
  double limit_seconds = 10;  // for all of it
  bool cold = true;           // caches flushed before every run
  bool poison = true;         // GPU: outputs and scratch get a fresh NaN pattern before every cold run
};

struct RunReport {
  // OK, TIMEOUT, ILLEGAL_ACCESS, LAUNCH_ERROR, OUT_OF_MEMORY, NEEDS_GPU or INFRA_ERROR. After any but OK the process is
  // gone, and every later call gives the same report.
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string message;        // names the step and its kernel's symbol; what the kernel printed, if anything
  double device_seconds = 0;  // by the executor's clock, all runs together: the candidate could forge it
  // By the caller around the call: wall time; of the emulated device the child's processor time, by the kernel's
  // account.
  double host_seconds = 0;
  std::vector<double> samples;  // by the executor's clock, one a run
  std::string launch_mode;      // "graph" or "stream"; empty on the emulated device
  double prepare_seconds = 0;   // of the plan's prepare steps, by the executor's clock
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual RunReport Run(const RunRequest& request) = 0;
  virtual RunReport Time(const TimeRequest& request) = 0;
};

class ExecutorFactory {
 public:
  virtual ~ExecutorFactory() = default;
  // InvalidArgument: the spec is inconsistent; else the machine's fault.
  virtual absl::StatusOr<std::unique_ptr<Executor>> Start(const ExecutorSpec& spec) = 0;
  // While quiet, no new process is made ready: its start would disturb what is being timed.
  virtual void SetQuiet(bool /*quiet*/) {}
  // A child could not be ended: the device needs a person.
  virtual bool Wedged() const { return false; }
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_EXECUTOR_H_
