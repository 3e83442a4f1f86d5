#include "coordinator/api/submission.h"

#include <fmt/format.h>

#include <set>

#include "common/protocol_names.h"
#include "coordinator/api/audit_act.h"
#include "coordinator/api/search_view.h"
#include "coordinator/engine/candidate_intake.h"
#include "coordinator/engine/search_intake.h"
#include "coordinator/store/text.h"

namespace warpsmith::api {
namespace {

const std::set<std::string>& Categories() {
  static const std::set<std::string> categories = {"memory_access", "async_latency",         "precision",
                                                   "compute",       "parallelism_occupancy", "control_flow"};
  return categories;
}

absl::Status CheckRunning(const store::SearchRecord& search, const char* what) {
  if (search.state == v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
  return FailedPrecondition(fmt::format(
      "search {} is {}; {} can be injected while a search runs{}", search.id, SearchStateName(search.state), what,
      search.state == v1::SEARCH_STATE_INTAKE ? ": try again when intake is done" : "; submit a new one"));
}

}  // namespace

absl::StatusOr<std::string> Submission::Submit(const v1::SubmitSearchRequest& request) {
  WARPSMITH_RETURN_IF_ERROR(engine::CheckSearch(request, "SubmitSearchRequest"));
  engine::SearchPlace place;
  place.owner = request.submitted_by();
  // Where owners have a quota, the scheduler lets searches in.
  place.admitted = settings_.max_searches_per_owner == 0;
  std::string id;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(id, engine::InsertSearch(transaction, queue_, settings_, request, place));
    NoteSearch(id);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return id;
}

absl::StatusOr<std::string> Submission::InjectIdea(const v1::InjectIdeaRequest& request, std::string* search_id) {
  v1::Idea idea = request.idea();
  if (store::CleanLine(idea.title()).empty()) {
    return InvalidArgument("InjectIdeaRequest.idea.title is empty; say in one line what is to be done");
  }
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine("InjectIdeaRequest.idea.title", idea.title(), 200));
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine("InjectIdeaRequest.request_id", request.request_id(), 200));
  if (idea.category().empty()) idea.set_category("compute");
  if (!Categories().contains(idea.category())) {
    return InvalidArgument(
        "InjectIdeaRequest.idea.category must be one of memory_access, async_latency, precision, compute, "
        "parallelism_occupancy, control_flow");
  }
  if (idea.ByteSizeLong() > (64u << 10))
    return InvalidArgument("InjectIdeaRequest.idea is larger than 64 KiB; shorten it");
  idea.set_id(store::NewId());
  idea.set_origin("operator");
  idea.clear_island();
  std::string id;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(*search_id, ResolveSearch(transaction, request.search_id()));
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {*search_id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, *search_id));
    if (!request.request_id().empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet earlier,
                                 transaction.Execute("idea_by_request", {*search_id, request.request_id()}));
      if (!earlier.empty()) {
        id = earlier[0].Text("id");
        return absl::OkStatus();
      }
    }
    WARPSMITH_RETURN_IF_ERROR(CheckRunning(search, "ideas"));
    std::string parent = search.best_candidate_id;
    if (!request.parent_id().empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(parent, ResolveCandidate(transaction, request.parent_id()));
      WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord kernel, store::GetCandidate(transaction, parent));
      if (kernel.source_sha256.empty()) {
        return InvalidArgument(fmt::format("InjectIdeaRequest.parent_id: candidate {} has no kernel", parent));
      }
    }
    id = idea.id();
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("idea_insert", {id, *search_id, parent, search.round, std::nullopt, 0,
                                     store::NullIfEmpty(request.request_id()), idea.category(), idea.title(),
                                     "operator", store::Bytes{idea.SerializeAsString()}, 0, true, std::nullopt})
            .status());
    return store::AddEvent(transaction, *search_id, "idea injected: " + idea.title());
  });
  if (!status.ok()) return status;
  return id;
}

absl::StatusOr<std::string> Submission::InjectKernel(const v1::InjectKernelRequest& request, std::string* search_id) {
  WARPSMITH_RETURN_IF_ERROR(engine::CheckSource("InjectKernelRequest.source", request.source()));
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine("InjectKernelRequest.title", request.title(), 200));
  WARPSMITH_RETURN_IF_ERROR(engine::CheckLine("InjectKernelRequest.request_id", request.request_id(), 200));
  std::string id;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(*search_id, ResolveSearch(transaction, request.search_id()));
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {*search_id}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, *search_id));
    if (!request.request_id().empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet earlier,
                                 transaction.Execute("candidate_by_request", {*search_id, request.request_id()}));
      if (!earlier.empty()) {
        id = earlier[0].Text("id");
        return absl::OkStatus();
      }
    }
    WARPSMITH_RETURN_IF_ERROR(CheckRunning(search, "kernels"));
    engine::NewCandidate candidate;
    candidate.round = search.round;
    candidate.request_id = request.request_id();
    candidate.title = request.title().empty() ? "injected kernel" : request.title();
    candidate.model = "operator";
    candidate.source = request.source();
    WARPSMITH_ASSIGN_OR_RETURN(id, engine::AddCandidate(transaction, queue_, settings_, search, candidate));
    return store::AddEvent(transaction, *search_id, "kernel injected: " + candidate.title);
  });
  if (!status.ok()) return status;
  return id;
}

}  // namespace warpsmith::api
