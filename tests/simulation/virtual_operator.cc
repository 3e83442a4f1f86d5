#include "tests/simulation/virtual_operator.h"

#include "coordinator/api/audit_act.h"
#include "tests/simulation/kernels.h"

namespace warpsmith::simulation {
namespace {

// Another try may have another answer.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsResourceExhausted(status) ||
         absl::IsDeadlineExceeded(status);
}

}  // namespace

VirtualOperator::VirtualOperator(World& world, const Scenario& scenario,
                                 std::function<std::shared_ptr<VirtualCoordinator>()> leader)
    : world_(world), coordinator_(std::move(leader)) {
  for (const v1::SubmitSearchRequest& request : scenario.searches) {
    Ask(
        "submit " + request.request_id(), Seconds(world_.random.Between(0, 4)),
        [request](VirtualCoordinator& coordinator) { return coordinator.Submit(request); },
        [this, request](const std::string& id) { Submitted(request, id); });
  }
  if (!scenario.batch) return;
  Ask(
      "submit batch", Seconds(world_.random.Between(0, 4)),
      [request = *scenario.batch](VirtualCoordinator& coordinator) { return coordinator.operations().Submit(request); },
      [this](const std::string& id) { BatchSubmitted(id); });
}

void VirtualOperator::BatchSubmitted(const std::string& id) {
  const auto nothing = [](const std::string&) {};
  if (world_.random.Chance(0.5)) {
    const Micros pause = Seconds(world_.random.Scale(0.5, 40));
    Ask(
        "pause", Seconds(world_.random.Scale(0.1, 30)),
        [id](VirtualCoordinator& coordinator) { return coordinator.operations().SetPaused(id, true); },
        [this, id, pause, nothing](const std::string&) {
          Ask(
              "resume", pause,
              [id](VirtualCoordinator& coordinator) { return coordinator.operations().SetPaused(id, false); }, nothing);
        });
  }
  if (world_.random.Chance(0.4)) {
    const bool more = world_.random.Chance(0.5);
    Ask(
        "retry", Seconds(world_.random.Scale(5, 90)),
        [id, more](VirtualCoordinator& coordinator) -> absl::StatusOr<std::string> {
          if (more) {
            v1::SetBatchRequest raise;
            raise.set_batch_id(id);
            raise.set_max_usd(30);
            raise.set_max_gpu_hours(1);
            WARPSMITH_RETURN_IF_ERROR(coordinator.operations().Set(raise).status());
          }
          int retried = 0;
          return coordinator.operations().RetryFailed(id, &retried);
        },
        nothing);
  }
  if (world_.random.Chance(0.1)) {
    Ask(
        "cancel batch", Seconds(world_.random.Scale(0.1, 60)),
        [id](VirtualCoordinator& coordinator) { return coordinator.operations().Cancel(id); }, nothing);
  }
}

void VirtualOperator::Submitted(const v1::SubmitSearchRequest& request, const std::string& id) {
  searches_[request.request_id()] = id;
  const auto nothing = [](const std::string&) {};
  if (world_.random.Chance(0.12)) {
    Ask(
        "cancel " + id, Seconds(world_.random.Scale(0.1, 40)),
        [id](VirtualCoordinator& coordinator) { return coordinator.CancelSearch(id); }, nothing);
  }
  if (world_.random.Chance(0.2)) {
    v1::InjectIdeaRequest inject;
    inject.set_search_id(id);
    inject.mutable_idea()->set_title("an operator's idea");
    inject.set_request_id("idea of " + request.request_id());
    Ask(
        "inject " + inject.request_id(), Seconds(world_.random.Scale(1, 30)),
        [inject](VirtualCoordinator& coordinator) { return coordinator.InjectIdea(inject); }, nothing);
  }
  if (world_.random.Chance(0.2)) {
    v1::InjectKernelRequest inject;
    inject.set_search_id(id);
    inject.set_source(DrawKernel(world_, "injected"));
    inject.set_request_id("kernel of " + request.request_id());
    Ask(
        "inject " + inject.request_id(), Seconds(world_.random.Scale(1, 30)),
        [inject](VirtualCoordinator& coordinator) { return coordinator.InjectKernel(inject); }, nothing);
  }
}

void VirtualOperator::Ask(const std::string& what, Micros delay, Call call,
                          std::function<void(const std::string&)> answered) {
  ++waiting_;
  world_.scheduler.In(delay, [this, what, call = std::move(call), answered = std::move(answered)] {
    --waiting_;
    const Micros again = Seconds(world_.random.Between(0.2, 2));
    const std::shared_ptr<VirtualCoordinator> coordinator = coordinator_();
    if (coordinator == nullptr || world_.Fault(world_.rates.cut)) return Ask(what, again, call, answered);
    absl::StatusOr<std::string> answer = Unavailable("the coordinator died");
    const auto act = std::make_shared<api::Act>();
    act->actor = "operator";
    act->action = what;
    api::SetCurrentAct(act);
    try {
      answer = call(*coordinator);
    } catch (const CoordinatorCrash&) {
      Ask(what, again, call, answered);
      throw;
    }
    world_.Note("operator: {}: {}", what, answer.ok() ? *answer : Message(answer.status()));
    if (!answer.ok()) {
      if (MayPass(answer.status())) Ask(what, again, call, answered);
      return;
    }
    const auto [known, first] = answers_.emplace(what, *answer);
    if (!first && known->second != *answer) world_.Violate(what + " was answered twice and differently");
    if (world_.Fault(world_.rates.cut)) return Ask(what, again, call, answered);
    answered(*answer);
  });
}

}  // namespace warpsmith::simulation
