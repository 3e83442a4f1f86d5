#include "tests/simulation/link.h"

#include <algorithm>

#include "tests/simulation/virtual_coordinator.h"
#include "tests/simulation/virtual_worker.h"

namespace warpsmith::simulation {
namespace {

// The hub's end of the stream.
class HubEnd final : public engine::WorkerConnection {
 public:
  explicit HubEnd(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  void Send(v1::CoordinatorMessage message) override { link_->Down(std::move(message)); }
  void Close(const std::string& why) override { link_->Break(why); }

 private:
  const std::shared_ptr<Link> link_;
};

}  // namespace

std::shared_ptr<Link> Link::Open(World& world, VirtualWorker& worker,
                                 const std::shared_ptr<VirtualCoordinator>& coordinator) {
  std::shared_ptr<Link> link(new Link(world, worker, coordinator));
  link->session_ = coordinator->Connect(link, std::make_shared<HubEnd>(link));
  return link;
}

Micros Link::Arrival(Micros* last) {
  Micros delay = static_cast<Micros>(world_.random.Scale(50, 5'000));
  if (world_.Fault(world_.rates.slow)) delay += Seconds(world_.random.Scale(0.05, 4));
  *last = std::max(*last + 1, world_.scheduler.now() + delay);
  return *last - world_.scheduler.now();
}

bool Link::Cut() {
  if (!open_) return true;
  if (world_.Fault(world_.rates.cut)) Break("the network");
  return !open_;
}

// What the coordinator says holds whether it arrives or not.
void Link::Observe(const v1::CoordinatorMessage& message) {
  if (message.has_assignment()) {
    const v1::Assignment& assignment = message.assignment();
    world_.Note("task {}@{} ({}) is given to {}", assignment.task_id(), assignment.epoch(),
                assignment.has_intake() ? "intake" : assignment.evaluate().stage(), worker_.id());
    int64_t& newest = world_.assigned[assignment.task_id()];
    if (assignment.epoch() <= newest) {
      world_.Violate(fmt::format("task {} was given out at epoch {} after epoch {}", assignment.task_id(),
                                 assignment.epoch(), newest));
    }
    newest = std::max(newest, assignment.epoch());
  } else if (message.has_ack()) {
    const v1::ResultAck& ack = message.ack();
    world_.Note("result of task {}@{} from {}: {}", ack.task_id(), ack.epoch(), worker_.id(),
                ack.recorded() ? "recorded" : "refused");
    if (!ack.recorded()) return;
    world_.accepted[ack.task_id()].insert(ack.epoch());
    if (world_.accepted[ack.task_id()].size() > 1) {
      world_.Violate(fmt::format("results of task {} were recorded at two epochs", ack.task_id()));
    }
  }
}

void Link::Up(v1::WorkerMessage message) {
  if (Cut()) return;
  world_.scheduler.In(Arrival(&last_up_), [self = shared_from_this(), message = std::move(message)]() mutable {
    const auto coordinator = self->coordinator_.lock();
    if (self->open_ && coordinator != nullptr) coordinator->Receive(self->session_, std::move(message));
  });
}

void Link::Down(v1::CoordinatorMessage message) {
  Observe(message);
  if (Cut()) return;
  world_.scheduler.In(Arrival(&last_down_), [self = shared_from_this(), message = std::move(message)] {
    if (self->open_) self->worker_.OnMessage(self, message);
  });
}

void Link::Break(const std::string& why) {
  if (!open_) return;
  open_ = false;
  world_.Note("stream of {} breaks: {}", worker_.id(), why);
  // Either end may take long to notice, where no packet says so.
  const auto notice = [&] {
    return Seconds(world_.random.Chance(0.8) ? world_.random.Scale(0.001, 0.1) : world_.random.Between(0.1, 15));
  };
  const Micros at_worker = notice();
  const Micros at_coordinator = notice();
  world_.scheduler.In(at_worker, [self = shared_from_this()] { self->worker_.OnClosed(self); });
  world_.scheduler.In(at_coordinator, [self = shared_from_this()] {
    if (const auto coordinator = self->coordinator_.lock()) coordinator->Closed(self->session_);
  });
}

}  // namespace warpsmith::simulation
