// ModelRunner's tasks: what is asked, within which budget, and what is made of the answers.
#include <fmt/format.h>

#include <algorithm>

#include "coordinator/engine/model_requests.h"
#include "coordinator/engine/model_runner.h"

namespace warpsmith::engine {
namespace {

constexpr double kCatalogSeconds = 0.3;  // the catalog answers at once

// A token is seldom less than three bytes of code; the prompts' own text comes on top.
template <typename Request>
int64_t InputTokens(const Request& request) {
  constexpr int64_t kPromptTokens = 8'000;
  return kPromptTokens + static_cast<int64_t>(request.ByteSizeLong()) / 3;
}

// Of ideas tried a prompt has no more than this, however many there are.
int64_t InputTokens(const v1::ProposeIdeasRequest& request) {
  constexpr int64_t kMostHistoryBytes = 32 << 10;
  int64_t bytes = 0;
  for (const v1::TriedIdea& tried : request.tried()) bytes += static_cast<int64_t>(tried.ByteSizeLong());
  return InputTokens<v1::ProposeIdeasRequest>(request) - std::max<int64_t>(0, bytes - kMostHistoryBytes) / 3;
}

// Whether the gateway gives such an answer before it asks a model, or we do when everything was recorded.
bool CostIsKnown(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) || absl::IsNotFound(status) ||
         absl::IsUnimplemented(status) || absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status);
}

}  // namespace

absl::StatusOr<CallPlan> ModelRunner::Plan(const store::SearchRecord& search, const queue::Task& task,
                                           const CallNeed& need) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::shared_ptr<const v1::ListModelsReply> models, directory_.Get());
  CallPlan plan;
  WARPSMITH_RETURN_IF_ERROR(Persist([&] {
    return database_.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(plan, planner_.Plan(transaction, search, task, *models, need));
      return absl::OkStatus();
    });
  }));
  return plan;
}

absl::Status ModelRunner::Refuse(const queue::Task& task, const Refusal& refusal) {
  if (refusal.for_good) return Persist([&] { return replies_.RecordEnd(task, "budget"); });
  return Persist([&] {
    return database_.Write([&](store::Transaction& transaction) -> absl::Status {
      return queue_.Release(transaction, {{task.id, task.epoch}}, refusal.delay_seconds, refusal.why);
    });
  });
}

absl::Status ModelRunner::Charge(const CallOfTask& call, const absl::Status& failure, bool sent) {
  if (absl::IsUnavailable(failure)) directory_.Forget();
  return Persist([&] { return replies_.Close(call, sent && !CostIsKnown(failure)); });
}

absl::StatusOr<v1::ProposeIdeasReply> ModelRunner::Propose(const queue::Task& task, v1::ProposeIdeasRequest request,
                                                           const CallPlan& plan) {
  plan.Fill(request.mutable_call());
  bool sent = false;
  // The catalog answers at once, so a second call has the time that there was.
  auto reply = gateway_.ProposeIdeas(request, {task.id, task.deadline_seconds * 0.95, &sent});
  if (!reply.ok()) {
    WARPSMITH_RETURN_IF_ERROR(Charge({request.call().idempotency_key(), plan.reservation}, reply.status(), sent));
  }
  return reply;
}

std::shared_ptr<void> ModelRunner::TakeCatalog(const std::string& search_id) {
  std::lock_guard lock(mutex_);
  if (!at_catalog_.insert(search_id).second) return nullptr;
  return {this, [this, search_id](void*) {
            std::lock_guard done(mutex_);
            at_catalog_.erase(search_id);
          }};
}

absl::Status ModelRunner::RunPropose(const store::SearchRecord& search, const queue::Task& task) {
  v1::ProposeIdeasRequest request;
  const auto make = [&] {
    return Persist([&] {
      return database_.Read([&](store::Transaction& transaction) -> absl::Status {
        WARPSMITH_ASSIGN_OR_RETURN(request, MakeProposeRequest(transaction, search, task));
        return absl::OkStatus();
      });
    });
  };
  WARPSMITH_RETURN_IF_ERROR(make());
  KeepOwnHistory(search, task, &request);
  std::vector<ProposedIdeas> proposed;
  CallNeed need;
  need.idempotency_key = request.call().idempotency_key();
  need.pulls = task.wanted;
  need.input_tokens = InputTokens(request);
  WARPSMITH_ASSIGN_OR_RETURN(CallPlan plan, Plan(search, task, need));
  if (plan.refusal) return Refuse(task, *plan.refusal);
  std::shared_ptr<void> catalog;
  if (!plan.arm || plan.arm->catalog) {
    const CallOfTask unused{need.idempotency_key, plan.reservation};
    // The catalog draws nothing: told less than all it would give the same again, and so would two calls at once.
    catalog = TakeCatalog(search.id);
    if (catalog == nullptr) {
      WARPSMITH_RETURN_IF_ERROR(Persist([&] { return replies_.Close(unused, /*abandoned=*/false); }));
      return Refuse(task, {false, kCatalogSeconds, "the catalog is being asked for this search"});
    }
    if (absl::Status made = make(); !made.ok()) {
      WARPSMITH_RETURN_IF_ERROR(Persist([&] { return replies_.Close(unused, /*abandoned=*/false); }));
      return made;
    }
  }
  WARPSMITH_ASSIGN_OR_RETURN(v1::ProposeIdeasReply reply, Propose(task, request, plan));
  const bool catalog_ran_out = plan.arm && plan.arm->catalog && plan.others && reply.ideas_size() < task.wanted;
  proposed.push_back({{need.idempotency_key, plan.reservation}, std::move(reply)});
  if (catalog_ran_out) {
    // The catalog is finite; models have the rest.
    catalog.reset();
    KeepOwnHistory(search, task, &request);
    for (const v1::Idea& idea : proposed.back().reply.ideas()) {
      v1::TriedIdea* tried = request.add_tried();
      *tried->mutable_idea() = idea;
      tried->set_outcome("proposed");
    }
    need.idempotency_key += "/rest";
    need.pulls = task.wanted - proposed.back().reply.ideas_size();
    need.no_catalog = true;
    request.set_count(need.pulls);
    request.mutable_call()->set_idempotency_key(need.idempotency_key);
    const auto undo = [&](const absl::Status& failure) -> absl::Status {
      WARPSMITH_RETURN_IF_ERROR(Persist([&] { return replies_.Close(proposed.back().call, false); }));
      return failure;
    };
    auto rest = Plan(search, task, need);
    if (!rest.ok()) return undo(rest.status());
    if (rest->refusal && proposed.back().reply.ideas().empty()) {
      WARPSMITH_RETURN_IF_ERROR(undo(absl::OkStatus()));
      return Refuse(task, *rest->refusal);
    }
    if (rest->refusal) {
      // Its own ideas are worth going on with.
      proposed.back().reply.clear_shortfall();
    } else {
      auto more = Propose(task, request, *rest);
      if (!more.ok()) return undo(more.status());
      proposed.push_back({{need.idempotency_key, rest->reservation}, *std::move(more)});
    }
  }
  return Persist([&] { return replies_.RecordIdeas(task, proposed); });
}

absl::Status ModelRunner::RunImplement(const store::SearchRecord& search, const queue::Task& task) {
  v1::ImplementIdeaRequest request;
  const auto make = [&] {
    return Persist([&] {
      return database_.Read([&](store::Transaction& transaction) -> absl::Status {
        WARPSMITH_ASSIGN_OR_RETURN(request, MakeImplementRequest(transaction, search, task));
        return absl::OkStatus();
      });
    });
  };
  WARPSMITH_RETURN_IF_ERROR(make());
  const TimePoint until = clock_.Now() + FromSeconds(task.deadline_seconds * 0.95);
  // One turn, but where the budget has room for some of them at a time only.
  while (!request.indexes().empty()) {
    CallNeed need;
    need.idempotency_key = request.call().idempotency_key();
    need.calls = request.indexes_size();
    need.input_tokens = InputTokens(request);
    need.of_catalog = !request.idea().catalog_key().empty();
    WARPSMITH_ASSIGN_OR_RETURN(const CallPlan plan, Plan(search, task, need));
    if (plan.refusal) return Refuse(task, *plan.refusal);
    plan.Fill(request.mutable_call());
    request.mutable_indexes()->Truncate(std::clamp(plan.calls, 1, request.indexes_size()));
    const int first = request.indexes(0);
    const CallOfTask call{need.idempotency_key, plan.reservation};
    bool sent = false;
    absl::Status status = gateway_.ImplementIdea(
        request, {task.id, std::max(1.0, ToSeconds(until - clock_.Now())), &sent},
        [&](const v1::Implementation& implementation) {
          absl::Status stored = Persist([&] { return replies_.RecordImplementation(task, call, implementation); });
          if (stored.ok()) {
            signals_.TasksAdded();
            signals_.SearchChanged(task.search_id);
          }
          return stored;
        });
    if (!status.ok()) {
      WARPSMITH_RETURN_IF_ERROR(Charge(call, status, sent));
      return status;
    }
    WARPSMITH_RETURN_IF_ERROR(Persist([&] { return replies_.Close(call, false); }));
    WARPSMITH_RETURN_IF_ERROR(make());
    if (!request.indexes().empty() && request.indexes(0) == first) {
      return FailedPrecondition(
          fmt::format("the gateway ended its reply without implementation {} of {}", first, task.wanted));
    }
  }
  return Persist([&] { return replies_.RecordEnd(task); });
}

absl::Status ModelRunner::RunRepair(const store::SearchRecord& search, const queue::Task& task) {
  v1::RepairRequest request;
  WARPSMITH_RETURN_IF_ERROR(Persist([&] {
    return database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(request, MakeRepairRequest(transaction, search, task));
      return absl::OkStatus();
    });
  }));
  CallNeed need;
  need.idempotency_key = request.call().idempotency_key();
  need.input_tokens = InputTokens(request);
  need.of_catalog = !request.idea().catalog_key().empty();
  WARPSMITH_ASSIGN_OR_RETURN(const CallPlan plan, Plan(search, task, need));
  if (plan.refusal) return Refuse(task, *plan.refusal);
  plan.Fill(request.mutable_call());
  const CallOfTask call{need.idempotency_key, plan.reservation};
  bool sent = false;
  auto reply = gateway_.Repair(request, {task.id, task.deadline_seconds * 0.95, &sent});
  if (!reply.ok()) {
    WARPSMITH_RETURN_IF_ERROR(Charge(call, reply.status(), sent));
    return reply.status();
  }
  return Persist([&] { return replies_.RecordRepair(task, call, *reply); });
}

}  // namespace warpsmith::engine
