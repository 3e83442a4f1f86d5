#include "tests/simulation/virtual_worker.h"

#include <algorithm>

#include "tests/simulation/link.h"
#include "tests/simulation/virtual_coordinator.h"

namespace warpsmith::simulation {

VirtualWorker::VirtualWorker(World& world, std::string id, int slots,
                             std::function<std::shared_ptr<VirtualCoordinator>()> coordinator)
    : world_(world),
      id_(std::move(id)),
      slots_(slots),
      coordinator_(std::move(coordinator)),
      turn_(world.scheduler, [this] { Turn(); }) {
  world_.scheduler.In(Seconds(world_.random.Between(0, 2)), [this] { Start(); });
}

void VirtualWorker::Start() {
  ++boot_;
  alive_ = true;
  draining_ = connected_ = false;
  next_connect_ = world_.scheduler.now();
  tasks_.clear();
  waiting_.clear();
  inbox_.clear();
  // What an earlier boot finished is still owed.
  for (const auto& [key, result] : spool_) {
    Task& task = tasks_[key.first];
    task.assignment.set_task_id(key.first);
    task.assignment.set_epoch(key.second);
    task.started = task.finished = true;
  }
  world_.Note("{} starts with {} results on disk", boot_id(), spool_.size());
  turn_.WakeIn(0);
}

void VirtualWorker::Stall(double seconds) {
  if (!alive_) return;
  world_.Note("{} stalls for {:.2f} s", boot_id(), seconds);
  stalled_until_ = std::max(stalled_until_, world_.scheduler.now() + Seconds(seconds));
}

void VirtualWorker::Die(bool disk_lost) {
  if (!alive_) return;
  world_.Note("{} dies{}", boot_id(), disk_lost ? ", its disk is lost" : "");
  alive_ = false;
  stalled_until_ = 0;
  if (disk_lost) spool_.clear();
  if (link_ != nullptr) link_->Break(boot_id() + " died");
  link_.reset();
  world_.scheduler.In(Seconds(world_.random.Scale(0.1, 12)), [this] { Start(); });
}

void VirtualWorker::Drain() {
  if (!alive_ || draining_) return;
  world_.Note("{} drains", boot_id());
  draining_ = sync_due_ = true;
  for (int64_t id : waiting_) tasks_.erase(id);
  waiting_.clear();
  turn_.WakeIn(0);
}

void VirtualWorker::Turn() {
  if (!alive_) return;
  const Micros now = world_.scheduler.now();
  // What was done is often sent before what came in is read: so a result meets a task that has another owner by now.
  if (now < stalled_until_) return turn_.WakeIn(stalled_until_ - now + Seconds(world_.random.Between(0, 0.3)));
  while (!inbox_.empty()) {
    const v1::CoordinatorMessage message = inbox_.front();
    inbox_.pop_front();
    Handle(message);
  }
  if (draining_ && tasks_.empty()) return Die(false);
  if (link_ == nullptr && now >= next_connect_) Connect();
  StartTasks();
  if (connected_ && (sync_due_ || now >= next_sync_)) SendSync();
  turn_.WakeIn(connected_ ? next_sync_ - now : std::max<Micros>(Seconds(0.2), next_connect_ - now));
}

void VirtualWorker::Connect() {
  const std::shared_ptr<VirtualCoordinator> coordinator = coordinator_();
  if (coordinator == nullptr) {
    next_connect_ = world_.scheduler.now() + Seconds(world_.random.Between(0.2, 2));
    return;
  }
  link_ = Link::Open(world_, *this, coordinator);
  world_.Note("{} connects", boot_id());
  v1::WorkerMessage message;
  v1::Hello* hello = message.mutable_hello();
  hello->set_worker_id(id_);
  hello->set_boot_id(boot_id());
  hello->set_slots(slots_);
  hello->mutable_device()->set_name("emulated");
  hello->mutable_device()->set_device_class("emulated");
  hello->mutable_device()->set_emulated(true);
  FillRunning(hello->mutable_running());
  link_->Up(std::move(message));
  for (const auto& [key, result] : spool_) SendResult(result);
}

void VirtualWorker::OnMessage(const std::shared_ptr<Link>& link, const v1::CoordinatorMessage& message) {
  if (!alive_ || link != link_) return;
  inbox_.push_back(message);
  turn_.WakeIn(0);
}

void VirtualWorker::OnClosed(const std::shared_ptr<Link>& link) {
  if (!alive_ || link != link_) return;
  link_.reset();
  connected_ = false;
  inbox_.clear();
  next_connect_ = world_.scheduler.now() + Seconds(world_.random.Between(0.1, 2));
  turn_.WakeIn(0);
}

void VirtualWorker::Handle(const v1::CoordinatorMessage& message) {
  if (message.has_welcome()) {
    lease_seconds_ = message.welcome().lease_seconds();
    connected_ = sync_due_ = true;
  } else if (message.has_assignment()) {
    Accept(message.assignment());
  } else if (message.has_ack()) {
    Acknowledge(message.ack());
  } else if (message.has_cancel()) {
    Cancel(message.cancel().task_id(), message.cancel().epoch());
  } else if (message.has_drain()) {
    Drain();
  }
}

void VirtualWorker::Accept(const v1::Assignment& assignment) {
  if (draining_) return;
  if (world_.Fault(world_.rates.forget)) {
    world_.Note("{} forgets task {}", boot_id(), assignment.task_id());
    return;
  }
  const auto found = tasks_.find(assignment.task_id());
  if (found != tasks_.end()) {
    if (found->second.assignment.epoch() >= assignment.epoch()) return;
    spool_.erase({assignment.task_id(), found->second.assignment.epoch()});
    std::erase(waiting_, assignment.task_id());
    tasks_.erase(found);
  }
  tasks_[assignment.task_id()].assignment = assignment;
  waiting_.push_back(assignment.task_id());
  sync_due_ = true;
}

void VirtualWorker::Cancel(int64_t task_id, int64_t epoch) {
  const auto found = tasks_.find(task_id);
  if (found == tasks_.end() || found->second.assignment.epoch() != epoch) return;
  world_.Note("{} drops task {}@{}, as told", boot_id(), task_id, epoch);
  spool_.erase({task_id, epoch});
  std::erase(waiting_, task_id);
  tasks_.erase(found);
  sync_due_ = true;
}

void VirtualWorker::Acknowledge(const v1::ResultAck& ack) {
  spool_.erase({ack.task_id(), ack.epoch()});
  const auto found = tasks_.find(ack.task_id());
  if (found != tasks_.end() && found->second.assignment.epoch() == ack.epoch() && found->second.finished) {
    tasks_.erase(found);
    sync_due_ = true;
  }
}

void VirtualWorker::StartTasks() {
  auto running = std::count_if(tasks_.begin(), tasks_.end(),
                               [](const auto& entry) { return entry.second.started && !entry.second.finished; });
  while (!waiting_.empty() && running < slots_) {
    Task& task = tasks_.at(waiting_.front());
    waiting_.pop_front();
    task.started = true;
    ++running;
    Run(task.assignment);
  }
}

void VirtualWorker::Run(const v1::Assignment& assignment) {
  double seconds = world_.random.Chance(0.15) ? world_.random.Between(4, 15) : world_.random.Scale(0.02, 1.5);
  if (assignment.has_evaluate()) {
    const KernelTruth& truth = world_.kernels.at(assignment.evaluate().candidate_sha256());
    if (truth.hangs) return;
    if (truth.kills) {
      world_.scheduler.In(Seconds(seconds), [this, boot = boot_] {
        if (boot == boot_) Die(world_.random.Chance(0.1));
      });
      return;
    }
  }
  if (world_.Fault(world_.rates.worker_fail)) {
    const double luck = world_.random.Unit();
    if (luck < 0.4) {
      world_.scheduler.In(Seconds(seconds * world_.random.Unit()), [this, boot = boot_] {
        if (boot == boot_) Die(world_.random.Chance(0.3));
      });
    } else if (luck < 0.8) {
      world_.scheduler.In(Seconds(seconds * world_.random.Unit()), [this, boot = boot_] {
        if (boot == boot_) Stall(lease_seconds_ * world_.random.Scale(0.3, 4));
      });
    } else {
      seconds += 1000;  // hangs, this once
    }
  }
  world_.scheduler.In(Seconds(seconds), [this, boot = boot_, assignment] { Finish(boot, assignment); });
}

void VirtualWorker::Finish(int boot, const v1::Assignment& assignment) {
  if (!alive_ || boot != boot_) return;
  if (world_.scheduler.now() < stalled_until_) {
    world_.scheduler.In(stalled_until_ - world_.scheduler.now(),
                        [this, boot, assignment] { Finish(boot, assignment); });
    return;
  }
  const auto found = tasks_.find(assignment.task_id());
  if (found == tasks_.end() || found->second.assignment.epoch() != assignment.epoch()) return;
  found->second.finished = true;
  const v1::TaskResult result = Compute(assignment);
  spool_[{assignment.task_id(), assignment.epoch()}] = result;
  world_.Note("{} has a result of task {}@{}", boot_id(), assignment.task_id(), assignment.epoch());
  SendResult(result);
  if (world_.Fault(world_.rates.duplicate)) SendResult(result);
  sync_due_ = true;
  turn_.WakeIn(0);
}

v1::TaskResult VirtualWorker::Compute(const v1::Assignment& assignment) {
  v1::TaskResult result;
  result.set_task_id(assignment.task_id());
  result.set_epoch(assignment.epoch());
  result.set_seconds(0.1);
  if (world_.Fault(world_.rates.worker_fail)) {
    result.set_infra_error("the machine failed: drawn");
    return result;
  }
  ComputedResult& computed = world_.computed[{assignment.task_id(), assignment.epoch()}];
  if (assignment.has_intake()) {
    v1::IntakeResult* intake = result.mutable_intake();
    v1::TensorSpec* tensor = intake->mutable_signature()->add_tensors();
    tensor->set_name("x");
    tensor->set_dtype("float32");
    intake->mutable_signature()->set_operator_family("softmax");
    v1::Baseline* eager = intake->add_baselines();
    eager->set_name("eager");
    eager->set_median_ms(1.0);
    eager->set_emulated(true);
    eager->set_harness_rev("h1");
    return result;
  }
  const KernelTruth& truth = world_.kernels.at(assignment.evaluate().candidate_sha256());
  // A second measurement differs a little.
  const double noise = assignment.evaluate().stage() == "confirm" ? 1.01 : 1;
  computed = {assignment.evaluate().candidate_sha256(), truth.outcome, truth.median_ms * noise};
  v1::Evaluation* evaluation = result.mutable_evaluation();
  evaluation->set_outcome(truth.outcome);
  evaluation->set_gpu_seconds(0.5);
  evaluation->set_harness_rev("h1");
  evaluation->set_judge_rev("j1");
  evaluation->set_cubin_sha256(assignment.evaluate().candidate_sha256());
  evaluation->mutable_timing()->set_emulated(true);
  if (truth.outcome == v1::OUTCOME_OK) {
    evaluation->mutable_timing()->set_median_ms(computed.median_ms);
    evaluation->mutable_timing()->set_spread(0.01);
    evaluation->set_reached(v1::PRECISION_CLASS_FP32);
  } else {
    evaluation->set_message("drawn");
    evaluation->clear_cubin_sha256();
  }
  return result;
}

void VirtualWorker::FillRunning(google::protobuf::RepeatedPtrField<v1::RunningTask>* running) const {
  for (const auto& [id, task] : tasks_) {
    v1::RunningTask* entry = running->Add();
    entry->set_task_id(id);
    entry->set_epoch(task.assignment.epoch());
  }
}

void VirtualWorker::SendSync() {
  v1::WorkerMessage message;
  FillRunning(message.mutable_sync()->mutable_running());
  const auto open = std::count_if(tasks_.begin(), tasks_.end(), [](const auto& task) { return !task.second.finished; });
  message.mutable_sync()->set_free_slots(draining_ ? 0 : std::max(0, slots_ - static_cast<int>(open)));
  message.mutable_sync()->set_draining(draining_);
  if (link_ != nullptr) link_->Up(std::move(message));
  sync_due_ = false;
  next_sync_ = world_.scheduler.now() + Seconds(lease_seconds_ / 3);
}

void VirtualWorker::SendResult(const v1::TaskResult& result) {
  v1::WorkerMessage message;
  *message.mutable_result() = result;
  if (link_ != nullptr) link_->Up(std::move(message));
}

}  // namespace warpsmith::simulation
