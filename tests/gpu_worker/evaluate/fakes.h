// A device, an oracle and a compiler whose every answer is scripted, so that what the evaluator concludes can be held
// against what it was told.
// Threading: the compiler is safe from any thread; the others are called by one thread at a time.
#ifndef WARPSMITH_TESTS_GPU_WORKER_EVALUATE_FAKES_H_
#define WARPSMITH_TESTS_GPU_WORKER_EVALUATE_FAKES_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "gpu_worker/compile/compiler.h"
#include "gpu_worker/evaluate/device_guard.h"
#include "gpu_worker/executor/executor.h"
#include "gpu_worker/reference/oracle.h"

namespace warpsmith::evaluate {

// What a candidate does on the device.
struct Behaviour {
  double true_seconds = 1e-3;
  double told = 1;       // the executor's clock over the truth
  double first_use = 1;  // factor of a launch on inputs not launched on before
  double cold = 1.05;    // a cold launch over a warm one
  double noise = 0.001;  // of each sample
  int skips_every = 0;   // of so many timed launches one does nothing; 0: none
  double launch_gap_seconds = 0;
  v1::Outcome outcome = v1::OUTCOME_OK;
  int fails_at_call = 0;  // which call of Run or Time, from 0
};

// Shared by all fakes of one test.
struct World {
  FakeClock clock;
  std::mt19937_64 random{1};
  std::map<std::string, Behaviour> behaviours;  // by artifact text; "" for all others
  std::vector<std::string> events;              // "quiet", "loud", "time", "run", "judge 3", ...
  std::vector<int64_t> slot_seeds;              // what each slot holds
  std::vector<std::string> slot_distributions;
  bool quiet = false;
  int timed_loud = 0;  // Time calls while the pool might start processes
  int executors_alive = 0;

  int Count(const std::string& prefix) const;
};

class FakeExecutor final : public executor::Executor {
 public:
  FakeExecutor(World& world, Behaviour behaviour, size_t slots) : world_(world), behaviour_(behaviour) {
    ++world_.executors_alive;
    seen_.resize(slots);
  }
  ~FakeExecutor() override { --world_.executors_alive; }
  executor::RunReport Run(const executor::RunRequest& request) override;
  executor::RunReport Time(const executor::TimeRequest& request) override;

 private:
  // Of one launch, and marks the slot's inputs as seen.
  double Launch(int slot, bool cold);
  bool Fails(executor::RunReport& report);

  World& world_;
  const Behaviour behaviour_;
  std::vector<std::set<std::pair<int64_t, std::string>>> seen_;
  int calls_ = 0;
  int timed_ = 0;
};

class FakeExecutorFactory final : public executor::ExecutorFactory {
 public:
  explicit FakeExecutorFactory(World& world) : world_(world) {}
  absl::StatusOr<std::unique_ptr<executor::Executor>> Start(const executor::ExecutorSpec& spec) override;
  void SetQuiet(bool quiet) override;
  bool Wedged() const override { return wedged; }

  bool wedged = false;
  std::vector<executor::ExecutorSpec> specs;

 private:
  World& world_;
};

class FakeOracle final : public reference::Oracle {
 public:
  explicit FakeOracle(World& world) : world_(world) {}
  absl::StatusOr<v1::IntakeResult> Intake(const std::string& name, const std::string& source,
                                          const v1::IntakeSettings& settings) override;
  absl::Status Load(const std::string& problem_id, const std::string& name, const std::string& source,
                    const v1::IntakeSettings& settings, const v1::ProblemSignature& signature) override;
  absl::StatusOr<std::vector<std::vector<reference::SharedBuffer>>> Prepare(const std::string& directory,
                                                                            const v1::ExecutionPlan& plan,
                                                                            int slots) override;
  absl::Status BeginTrial(const reference::TrialRequest& request) override;
  absl::StatusOr<reference::JudgeReport> Judge(const reference::JudgeRequest& request) override;
  absl::StatusOr<reference::ReferenceTime> TimeReference(double seconds) override;
  absl::Status Quiesce() override;
  absl::StatusOr<std::vector<v1::Baseline>> Baselines(const std::string& name, const std::string& source,
                                                      const v1::IntakeSettings& settings,
                                                      const std::vector<std::string>& names) override;
  absl::Status Release() override;

  int most_slots = 100;
  int generated = 0;  // times that a slot got other inputs than it held
  int loads = 0;
  int baseline_calls = 0;
  std::set<std::string> skipped_baselines;
  double reference_seconds = 2e-3;
  std::deque<absl::Status> begin_answers;  // the next ones; OK when there are none
  // Called for each judgement; the default finds nothing wrong.
  std::function<v1::Outcome(const reference::JudgeRequest&)> verdict;
  std::vector<v1::ExecutionPlan> prepared;

 private:
  World& world_;
  std::string loaded_;
};

// The artifact is the code's first line that begins with "// ", without that.
class FakeCompiler final : public compile::Compiler {
 public:
  absl::StatusOr<compile::CompileResult> Compile(const compile::CompileRequest& request) override;
  std::string Fingerprint() override { return "fake"; }
  std::function<void()> while_compiling;
};

class FakeGuard final : public DeviceGuard {
 public:
  absl::StatusOr<std::shared_ptr<void>> Lock() override;
  absl::StatusOr<ClockReading> ReadClocks() override;
  absl::Status Ready() override;
  bool OnEnd(CandidateEnd end, const std::string& what) override;
  void OnUnkillableGone() override { ++unkillable_gone; }

  int locks = 0;
  int held = 0;
  int canaries = 0;
  bool canary_due = false;
  bool to_blame = true;
  int unkillable_gone = 0;
  absl::Status canary;
  std::deque<ClockReading> readings;  // the next ones; `usual` when there are none
  ClockReading usual{1980, 1980, false, false, false, false};
};

// A candidate that copies x to output, called `name` to the fakes, with `scratch` bytes of scratch.
std::string CandidateNamed(const std::string& name, int scratch = 0, const std::string& more_plan = "");

// x and output of 1024 floats, and five distributions.
v1::Problem ProblemNamed(const std::string& name);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_TESTS_GPU_WORKER_EVALUATE_FAKES_H_
