// Runs propose, implement and repair tasks: leases them to this coordinator's boot and calls the gateway from a few
// threads, each call within what was reserved for it (call_planner.h). A gateway that cannot be reached costs a task
// nothing but time; other errors are failures of the task. A call that was sent and of whose cost nothing was heard is
// charged with the whole of its reservation.
// Threading: its own threads; Wake, Cancel, RenewLeases and RunOne from any.
#ifndef WARPSMITH_COORDINATOR_ENGINE_MODEL_RUNNER_H_
#define WARPSMITH_COORDINATOR_ENGINE_MODEL_RUNNER_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "coordinator/engine/call_planner.h"
#include "coordinator/engine/gateway_client.h"
#include "coordinator/engine/model_directory.h"
#include "coordinator/engine/reply_recorder.h"
#include "coordinator/engine/result_recorder.h"
#include "coordinator/engine/signals.h"

namespace warpsmith::engine {

class ModelRunner {
 public:
  ModelRunner(store::Database& database, queue::TaskQueue& queue, GatewayClient& gateway, ResultRecorder& results,
              const EngineSettings& settings, Signals& signals, Clock& clock, std::string boot_id);
  ~ModelRunner();

  void Start();
  void Stop();  // cancels the calls in hand; their tasks go back into the queue
  void Wake();
  void Cancel(const std::vector<queue::CancelledTask>& tasks);
  absl::Status RenewLeases();
  // Claims a task and runs it to its end; what each of the runner's threads does. False: there was nothing to do.
  bool RunOne();

 private:
  void Loop();
  absl::Status Run(const queue::Task& task);
  absl::Status RunPropose(const store::SearchRecord& search, const queue::Task& task);
  absl::Status RunImplement(const store::SearchRecord& search, const queue::Task& task);
  absl::Status RunRepair(const store::SearchRecord& search, const queue::Task& task);
  absl::StatusOr<CallPlan> Plan(const store::SearchRecord& search, const queue::Task& task, const CallNeed& need);
  absl::Status Refuse(const queue::Task& task, const Refusal& refusal);
  absl::StatusOr<v1::ProposeIdeasReply> Propose(const queue::Task& task, v1::ProposeIdeasRequest request,
                                                const CallPlan& plan);
  // After a call that failed: its recorded calls are settled, or all of it where more may have been spent.
  absl::Status Charge(const CallOfTask& call, const absl::Status& failure, bool sent);
  // The catalog is a list and goes on by what it gave to the search, so that it is asked one call at a time in each.
  // Null: it is being asked for this one.
  std::shared_ptr<void> TakeCatalog(const std::string& search_id);
  void Settle(const queue::Task& task, const absl::Status& status);
  // Repeats what the database was not there for, until it is or the runner stops.
  absl::Status Persist(const std::function<absl::Status()>& write);
  bool stopping();

  store::Database& database_;
  queue::TaskQueue& queue_;
  GatewayClient& gateway_;
  ResultRecorder& results_;
  ReplyRecorder replies_;
  ModelDirectory directory_;
  const CallPlanner planner_;
  const EngineSettings settings_;
  Signals& signals_;
  Clock& clock_;
  const queue::Owner owner_;

  std::mutex mutex_;
  std::condition_variable wake_;
  uint64_t wakes_ = 0;                  // guarded by mutex_
  bool stopping_ = false;               // guarded by mutex_
  std::map<int64_t, int64_t> in_hand_;  // guarded by mutex_: task to epoch
  int unreachable_ = 0;                 // guarded by mutex_: calls in a row that found no gateway
  std::set<std::string> at_catalog_;    // guarded by mutex_: searches for which the catalog is being asked for ideas
  std::vector<std::thread> threads_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_MODEL_RUNNER_H_
