// The oracle as a PyTorch process: started on first use, restarted after a crash or a missed deadline, ended with its
// owner. Its environment holds nothing of ours (PATH, a HOME of its own, thread counts), its memory is bounded.
// Threading: one thread at a time. Errors: as oracle.h says.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_ORACLE_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_ORACLE_H_

#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/json.h"
#include "gpu_worker/reference/oracle.h"

namespace warpsmith::reference {

struct PythonOracleOptions {
  std::string python;  // empty: FindPython() of python_locator.h
  std::string device = "cpu";
  uint64_t memory_bytes = 0;  // beyond an idle PyTorch process; 0: three quarters of what is available now
  int threads = 0;            // of PyTorch, timing aside (always one); 0: as many as cores, at most 8
  Duration intake_deadline = std::chrono::seconds(180);
  Duration command_deadline = std::chrono::seconds(120);
  std::string harness_revision;  // of baselines; empty: common/version.h
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
  absl::StatusOr<ReferenceTime> TimeReference(double seconds) override;
  absl::Status Release() override;

  // The process's id; -1 while none runs.
  int ProcessIdForTest() const;

 private:
  absl::StatusOr<Json> Call(const Json& request, Duration deadline);
  void Forget();

  PythonOracleOptions options_;
  std::unique_ptr<OracleChannel> channel_;
  std::string loaded_;  // problem id; empty: none
};

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_PYTHON_ORACLE_H_
