#include "tests/simulation/virtual_coordinator.h"

#include <algorithm>

#include "coordinator/store/budgets.h"
#include "coordinator/store/records.h"

namespace warpsmith::simulation {
namespace {

constexpr size_t kModelThreads = 2;
constexpr Micros kModelPoll = 5 * kSecond;
constexpr Micros kBatchTick = 10 * kSecond;
constexpr Micros kJanitorTick = 30 * kSecond;

// Finished tasks stay: what workers were told is compared with them in the end.
operations::RetentionSettings AtOnce() {
  operations::RetentionSettings settings;
  settings.finished_task_days = 0;
  settings.evaluation_body_days = settings.raw_reply_days = settings.event_days = 1e-6;
  settings.blob_days = 0;
  settings.batch = 5;
  return settings;
}

}  // namespace

VirtualCoordinator::VirtualCoordinator(World& world, SimulatedStore& simulated, VirtualGateway& gateway, Clock& clock,
                                       const ClusterSettings& settings, const std::string& name)
    : world_(world),
      simulated_(simulated),
      clock_(clock),
      settings_(settings),
      name_(name),
      database_(world, simulated, clock, name),
      queue_(settings.queue),
      gateway_(gateway.Connect()),
      engine_(database_, queue_, settings.engine, *this, clock),
      results_(database_, queue_, engine_.executor(), *this, clock),
      models_(database_, queue_, *gateway_, results_, settings.engine, *this, clock, name),
      hub_(database_, queue_, results_, *this, clock, [this] { return models_.RenewLeases(); }),
      batches_({database_, queue_, engine_.executor(), *this, clock}),
      retention_(database_, AtOnce()),
      audited_(database_),
      operations_({audited_, queue_, engine_.executor(), *this, clock}),
      submission_(audited_, queue_, settings.engine),
      hub_turn_(world.scheduler, [this] { TurnHub(); }),
      engine_turn_(world.scheduler, [this] { TurnEngine(); }),
      batches_turn_(world.scheduler, [this] { TurnBatches(); }),
      janitor_turn_(world.scheduler, [this] { TurnJanitor(); }),
      busy_(kModelThreads, false) {
  for (size_t i = 0; i < busy_.size(); ++i) runners_.emplace_back(world.scheduler, [this, i] { RunModel(i); });
}

VirtualCoordinator::~VirtualCoordinator() {
  for (const auto& weak : links_) {
    if (const auto link = weak.lock()) link->Break(name_ + " is gone");
  }
}

absl::Status VirtualCoordinator::Begin() {
  const int64_t term = simulated_.BeginTerm(name_);
  database_.SetTerm(term);
  world_.Note("{} leads in term {}", name_, term);
  absl::Status freed = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("worker_disconnect_all", {}).status());
    WARPSMITH_RETURN_IF_ERROR(store::AbandonAllReservations(transaction));
    return queue_.FreeOtherBoots(transaction, {queue::kCoordinatorWorker, name_}, false).status();
  });
  if (!freed.ok()) return freed;
  running_ = true;
  hub_turn_.WakeIn(0);
  engine_turn_.WakeIn(0);
  batches_turn_.WakeIn(Soon());
  if (settings_.janitor) janitor_turn_.WakeIn(Seconds(world_.random.Between(2, 20)));
  for (Actor& runner : runners_) runner.WakeIn(Soon());
  return absl::OkStatus();
}

void VirtualCoordinator::Supersede() {
  world_.Note("{} has lost its term and does not know", name_);
  database_.Supersede();
}

void VirtualCoordinator::Stop() {
  if (stopped_) return;
  world_.Note("{} is stopped", name_);
  stopped_ = true;
  hub_.Stop();
  models_.Stop();
  engine_.Stop();
}

// Threads wake within a moment, now and then within a long one.
Micros VirtualCoordinator::Soon() {
  if (world_.Fault(world_.rates.slow)) return Seconds(world_.random.Scale(0.01, 2));
  return static_cast<Micros>(world_.random.Scale(20, 3'000));
}

void VirtualCoordinator::TurnHub() {
  if (!running_ || stopped_) return;
  hub_.Turn();
  const double beat = std::clamp(settings_.queue.lease_seconds / 6, 0.05, 2.0);
  hub_turn_.WakeIn(database_.failed() ? 300 * kMillisecond : Seconds(beat) + Soon());
}

void VirtualCoordinator::TurnEngine() {
  if (!running_ || stopped_) return;
  engine_.Turn();
  engine_turn_.WakeIn(Seconds(settings_.engine.tick_seconds) + Soon());
}

void VirtualCoordinator::TurnBatches() {
  if (!running_ || stopped_) return;
  batches_.Turn();
  batches_turn_.WakeIn(kBatchTick);
}

void VirtualCoordinator::TurnJanitor() {
  if (!running_ || stopped_) return;
  const auto more = retention_.Step();
  janitor_turn_.WakeIn(more.ok() && *more ? 500 * kMillisecond : kJanitorTick);
}

void VirtualCoordinator::RunModel(size_t runner) {
  if (!running_ || stopped_ || busy_[runner]) return;
  struct Frame {
    Frame(VirtualCoordinator& owner, size_t index) : coordinator(owner), runner(index) {
      ++coordinator.frames_;
      coordinator.busy_[runner] = true;
    }
    ~Frame() {
      --coordinator.frames_;
      coordinator.busy_[runner] = false;
    }
    VirtualCoordinator& coordinator;
    const size_t runner;
  };
  bool more = false;
  {
    const Frame frame(*this, runner);
    more = models_.RunOne();
  }
  runners_[runner].WakeIn(more ? Soon() : kModelPoll);
}

uint64_t VirtualCoordinator::Connect(const std::shared_ptr<Link>& link,
                                     std::shared_ptr<engine::WorkerConnection> connection) {
  links_.push_back(link);
  hub_turn_.WakeIn(Soon());
  return hub_.Open(std::move(connection));
}

void VirtualCoordinator::Receive(uint64_t session, v1::WorkerMessage message) {
  hub_.Receive(session, std::move(message));
  hub_turn_.WakeIn(Soon());
}

void VirtualCoordinator::Closed(uint64_t session) {
  hub_.Closed(session);
  hub_turn_.WakeIn(Soon());
}

void VirtualCoordinator::SearchChanged(const std::string& search_id) {
  engine_.MarkChanged(search_id);
  engine_turn_.WakeIn(Soon());
}

void VirtualCoordinator::TasksAdded() {
  hub_.Wake();
  hub_turn_.WakeIn(Soon());
  models_.Wake();
  for (Actor& runner : runners_) runner.WakeIn(Soon());
  batches_turn_.WakeIn(kSecond);
}

void VirtualCoordinator::TasksCancelled(const std::vector<queue::CancelledTask>& tasks) {
  hub_.Cancel(tasks);
  hub_turn_.WakeIn(Soon());
  models_.Cancel(tasks);
}

absl::StatusOr<std::string> VirtualCoordinator::Submit(const v1::SubmitSearchRequest& request) {
  auto id = submission_.Submit(request);
  if (id.ok()) {
    TasksAdded();
    SearchChanged(*id);
  }
  return id;
}

absl::StatusOr<std::string> VirtualCoordinator::InjectIdea(const v1::InjectIdeaRequest& request) {
  std::string search_id;
  auto id = submission_.InjectIdea(request, &search_id);
  if (id.ok()) {
    TasksAdded();
    SearchChanged(search_id);
  }
  return id;
}

absl::StatusOr<std::string> VirtualCoordinator::InjectKernel(const v1::InjectKernelRequest& request) {
  std::string search_id;
  auto id = submission_.InjectKernel(request, &search_id);
  if (id.ok()) {
    TasksAdded();
    SearchChanged(search_id);
  }
  return id;
}

absl::StatusOr<std::string> VirtualCoordinator::CancelSearch(const std::string& search_id) {
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = audited_.Write([&](store::Transaction& transaction) -> absl::Status {
    cancelled.clear();
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {search_id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord record, store::GetSearch(transaction, search_id));
    return engine_.executor()
        .End(transaction, record, v1::SEARCH_STATE_CANCELLED, "cancelled", "", clock_.WallMicros(), &cancelled)
        .status();
  });
  if (!status.ok()) return status;
  TasksCancelled(cancelled);
  SearchChanged(search_id);
  return search_id;
}

}  // namespace warpsmith::simulation
