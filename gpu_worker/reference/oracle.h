// The trusted side of judging: makes inputs from secret seeds, holds the answers, judges what a candidate wrote, times
// the reference. Expected answers never leave it.
// Order of calls: Intake at any time; Load, then Prepare a candidate's buffers, then BeginTrial, a launch, Judge as
// often as wanted. Prepare drops the buffers of the Prepare before it, Load those and the problem before it. Threading:
// one thread at a time. Units: bytes, milliseconds where named so. Errors: InvalidArgument for a request or a problem
// that is wrong; DeadlineExceeded and Unavailable when the oracle hung or died (the machine's fault: load and prepare
// again, the oracle has been restarted by then); FailedPrecondition when a call comes out of order or nothing can run
// PyTorch here.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/reference/shared_buffer.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/execution.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::reference {

// What outputs hold before a launch. Two patterns, so that an integer that shows both was not written; kKeep leaves
// what the last launch wrote, as a timed launch finds it; kStale is the right answer to another slot's inputs, where
// there is one: a kernel that takes what it finds for its own work is wrong then.
enum class OutputFill { kPoisonA, kPoisonB, kKeep, kStale };

// What scratch holds before a launch. A large finite value shows reads of unwritten scratch that a NaN hides, since
// fmaxf(0, NaN) is 0.
enum class ScratchFill { kPoison, kLarge };

struct TrialRequest {
  int slot = 0;                        // below Prepare's `slots`
  int64_t seed = 0;                    // mixed with a secret of the oracle's process
  std::string distribution = "plain";  // one of ProblemSignature.distributions
  OutputFill output_fill = OutputFill::kPoisonA;
  ScratchFill scratch_fill = ScratchFill::kPoison;
};

struct JudgeRequest {
  int slot = 0;                              // judged against the trial begun last in it
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  bool after_timed_launch = false;
};

struct JudgeReport {
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;  // out_of_bounds, input_modified, unwritten_output, non_finite,
                                                  // wrong_output or ok: the first that holds
  std::string message;                            // for people and for the repair prompt; empty where ok
  v1::TrialVerdict verdict;
  v1::Mismatch mismatch;      // unset where ok
  std::string output_digest;  // equal bytes in all outputs, equal digest: tells nondeterminism
  bool left_out = false;      // passed since PyTorch itself overflows in half precision on this distribution
};

struct ReferenceTime {
  double median_ms = 0;
  double spread = 0;  // interquartile range over median
  int samples = 0;
  std::vector<double> samples_ms;
};

class Oracle {
 public:
  virtual ~Oracle() = default;

  // In a process of its own that ends with the call. A refused problem is a result (error, error_kind), not a Status.
  // Unavailable: a signal ended the process; the machine's fault, until it comes again.
  virtual absl::StatusOr<v1::IntakeResult> Intake(const std::string& name, const std::string& source,
                                                  const v1::IntakeSettings& settings) = 0;

  // Nothing to do where `problem_id` is loaded already.
  virtual absl::Status Load(const std::string& problem_id, const std::string& name, const std::string& source,
                            const v1::IntakeSettings& settings, const v1::ProblemSignature& signature) = 0;

  // A buffer for each slot and buffer of the plan, files in `directory`; result[slot][buffer index]. At least one slot
  // and at most `slots`: as many as memory allows.
  virtual absl::StatusOr<std::vector<std::vector<SharedBuffer>>> Prepare(const std::string& directory,
                                                                         const v1::ExecutionPlan& plan, int slots) = 0;

  // Costs no new inputs where the slot still holds those of this seed and distribution.
  virtual absl::Status BeginTrial(const TrialRequest& request) = 0;
  virtual absl::StatusOr<JudgeReport> Judge(const JudgeRequest& request) = 0;

  // The first floating output of `slots`, in their order, whose last element still holds the poison that BeginTrial put
  // there; empty where there is none. A glance of some tens of microseconds, for right after a process has said that it
  // has written them: on a GPU its work may still be under way.
  virtual absl::StatusOr<std::string> Unwritten(const std::vector<int>& /*slots*/) { return std::string(); }

  // The problem's eager time again, sampled for about `seconds`.
  virtual absl::StatusOr<ReferenceTime> TimeReference(double seconds) = 0;

  // Waits for the device and gives back what PyTorch holds beyond need: before anything is timed.
  virtual absl::Status Quiesce() { return absl::OkStatus(); }

  // Times the module itself by each of the methods named (v1.Baseline.name), in a process that ends with the call.
  virtual absl::StatusOr<std::vector<v1::Baseline>> Baselines(const std::string& /*name*/,
                                                              const std::string& /*source*/,
                                                              const v1::IntakeSettings& /*settings*/,
                                                              const std::vector<std::string>& /*names*/) {
    return std::vector<v1::Baseline>{};
  }

  // Forgets the buffers; the problem stays loaded.
  virtual absl::Status Release() = 0;
};

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_H_
