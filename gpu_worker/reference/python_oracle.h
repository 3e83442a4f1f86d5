// The oracle as a PyTorch process: started on first use, restarted after a crash or a missed deadline, ended with its
// owner. Its environment holds nothing of ours (PATH, a HOME of its own, thread counts, and what the options add), its
// memory on the host is bounded where there is no GPU. Intake and baselines run in processes of their own, and starting
// one takes seconds. So for a GPU there are always some that have imported PyTorch and touch no GPU, and after an
// intake the next one gets its context and our kernels ready too (some 700 MiB of the GPU). After a problem was loaded
// none does, since candidates are timed from then on. Threading: one thread at a time; processes end with this one.
// Errors: as oracle.h says.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_ORACLE_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_ORACLE_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/json.h"
#include "gpu_worker/reference/oracle.h"

namespace warpsmith::reference {

struct PythonOracleOptions {
  std::string python;                              // empty: FindPython() of python_locator.h
  std::string device = "cpu";                      // or cuda:0, with an environment in which that is the worker's GPU
  std::map<std::string, std::string> environment;  // added to the processes': cuda::ChildEnvironment
  uint64_t memory_bytes =
      0;  // without a GPU: beyond an idle PyTorch process; 0: three quarters of what is available now
  int64_t reserve_bytes =
      int64_t{5} << 30;  // of the GPU's memory, left to executors: 3 GiB and 512 MiB for each context
  int threads = 0;       // of PyTorch, timing aside (always one); 0: as many as cores, at most 8
  Duration intake_deadline = std::chrono::seconds(180);
  Duration command_deadline = std::chrono::seconds(120);
  Duration baseline_deadline = std::chrono::seconds(240);  // of one baseline; torch.compile's autotuning takes minutes
  double baseline_seconds = 1.0;                           // timed for about as long
  std::string harness_revision;                            // of baselines; empty: common/version.h
};

class OracleChannel;

class PythonOracle final : public Oracle {
 public:
  explicit PythonOracle(PythonOracleOptions options);
  ~PythonOracle() override;

  absl::StatusOr<v1::IntakeResult> Intake(const std::string& name, const std::string& source,
                                          const v1::IntakeSettings& settings) override;
  absl::Status Load(const std::string& problem_id, const std::string& name, const std::string& source,
                    const v1::IntakeSettings& settings, const v1::ProblemSignature& signature) override;
  absl::StatusOr<std::vector<std::vector<SharedBuffer>>> Prepare(const std::string& directory,
                                                                 const v1::ExecutionPlan& plan, int slots) override;
  absl::Status BeginTrial(const TrialRequest& request) override;
  absl::StatusOr<JudgeReport> Judge(const JudgeRequest& request) override;
  absl::StatusOr<std::string> Unwritten(const std::vector<int>& slots) override;
  absl::StatusOr<ReferenceTime> TimeReference(double seconds) override;
  absl::Status Quiesce() override;
  absl::StatusOr<std::vector<v1::Baseline>> Baselines(const std::string& name, const std::string& source,
                                                      const v1::IntakeSettings& settings,
                                                      const std::vector<std::string>& names) override;
  absl::Status Release() override;

  // The process's id; -1 while none runs.
  int ProcessIdForTest() const;

 private:
  absl::StatusOr<Json> Call(const Json& request, Duration deadline);
  void Forget();
  bool on_gpu() const { return options_.device != "cpu"; }
  // A process that answers: the waiting one, or a new one.
  absl::StatusOr<std::unique_ptr<OracleChannel>> TakeProcess();
  // For a GPU: has the next processes import PyTorch meanwhile, and the first of them get ready for the GPU as well.
  void KeepSpares(bool ready_for_gpu);
  // Another process is to have the GPU's memory.
  void DropBuffers();

  PythonOracleOptions options_;
  std::unique_ptr<OracleChannel> channel_;
  std::deque<std::unique_ptr<OracleChannel>> spares_;  // the first one may have been greeted
  std::string loaded_;                                 // problem id; empty: none
};

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_ORACLE_H_
