// One coordinator process in virtual time: the product's hub, model runner, engine, batches, retention and what
// operators call, on one database, each stepped as an actor where it has threads of its own. coordinator.cc wires the
// same parts to real ones.
// Threading: one thread. It may be destroyed while none of its model calls stands on the stack (frames() == 0).
#ifndef WARPSMITH_TESTS_SIMULATION_VIRTUAL_COORDINATOR_H_
#define WARPSMITH_TESTS_SIMULATION_VIRTUAL_COORDINATOR_H_

#include <memory>
#include <string>
#include <vector>

#include "coordinator/api/audit_database.h"
#include "coordinator/api/submission.h"
#include "coordinator/batch/batch_operations.h"
#include "coordinator/batch/batch_scheduler.h"
#include "coordinator/engine/model_runner.h"
#include "coordinator/engine/search_engine.h"
#include "coordinator/engine/worker_hub.h"
#include "coordinator/operations/retention.h"
#include "coordinator/queue/postgres_task_queue.h"
#include "tests/simulation/faulty_database.h"
#include "tests/simulation/link.h"
#include "tests/simulation/virtual_gateway.h"

namespace warpsmith::simulation {

struct ClusterSettings {
  queue::QueueSettings queue;
  engine::EngineSettings engine;
  bool janitor = false;  // thins out what ended searches leave behind, as soon as they have ended
};

class VirtualCoordinator final : private engine::Signals {
 public:
  VirtualCoordinator(World& world, SimulatedStore& simulated, VirtualGateway& gateway, Clock& clock,
                     const ClusterSettings& settings, const std::string& name);
  ~VirtualCoordinator() override;

  // Elected, and what the last one left is taken care of. An error: it could not start.
  absl::Status Begin();
  // Another one was elected; this one does not know yet.
  void Supersede();
  // Ends in order: calls are cancelled, streams closed.
  void Stop();
  bool stopped() const { return stopped_; }
  int frames() const { return frames_; }

  uint64_t Connect(const std::shared_ptr<Link>& link, std::shared_ptr<engine::WorkerConnection> connection);
  void Receive(uint64_t session, v1::WorkerMessage message);
  void Closed(uint64_t session);

  // What operators ask for, each as the calling thread's act. Each may meet the coordinator's death.
  absl::StatusOr<std::string> Submit(const v1::SubmitSearchRequest& request);
  absl::StatusOr<std::string> InjectIdea(const v1::InjectIdeaRequest& request);
  absl::StatusOr<std::string> InjectKernel(const v1::InjectKernelRequest& request);
  absl::StatusOr<std::string> CancelSearch(const std::string& search_id);
  batch::BatchOperations& operations() { return operations_; }

 private:
  void SearchChanged(const std::string& search_id) override;
  void TasksAdded() override;
  void TasksCancelled(const std::vector<queue::CancelledTask>& tasks) override;
  void TurnHub();
  void TurnEngine();
  void TurnBatches();
  void TurnJanitor();
  void RunModel(size_t runner);
  Micros Soon();

  World& world_;
  SimulatedStore& simulated_;
  Clock& clock_;
  const ClusterSettings settings_;
  const std::string name_;
  FaultyDatabase database_;
  queue::PostgresTaskQueue queue_;
  const std::unique_ptr<engine::GatewayClient> gateway_;
  engine::SearchEngine engine_;
  engine::ResultRecorder results_;
  engine::ModelRunner models_;
  engine::WorkerHub hub_;
  batch::BatchScheduler batches_;
  operations::Retention retention_;
  api::AuditDatabase audited_;
  batch::BatchOperations operations_;
  api::Submission submission_;
  std::vector<std::weak_ptr<Link>> links_;
  bool running_ = false;
  bool stopped_ = false;
  int frames_ = 0;
  Actor hub_turn_;
  Actor engine_turn_;
  Actor batches_turn_;
  Actor janitor_turn_;
  std::vector<bool> busy_;
  std::vector<Actor> runners_;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_VIRTUAL_COORDINATOR_H_
