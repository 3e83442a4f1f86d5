#include "coordinator/api/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/hash.h"
#include "common/protocol_names.h"
#include "coordinator/api/search_view.h"
#include "coordinator/engine/candidate_intake.h"
#include "coordinator/search/settings.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"

namespace warpsmith::api {
namespace {

const std::set<std::string>& Categories() {
  static const std::set<std::string> categories = {"memory_access", "async_latency",         "precision",
                                                   "compute",       "parallelism_occupancy", "control_flow"};
  return categories;
}

absl::Status CheckSource(const std::string& field, const std::string& source) {
  if (source.empty()) return InvalidArgument(fmt::format("{} is empty; send the file's text", field));
  if (source.size() > store::kMaxSourceBytes) {
    return InvalidArgument(
        fmt::format("{} has {} bytes; a file has at most {}", field, source.size(), store::kMaxSourceBytes));
  }
  if (source.find('\0') != std::string::npos) return InvalidArgument(fmt::format("{} holds a NUL byte", field));
  return absl::OkStatus();
}

absl::Status CheckLine(const std::string& field, const std::string& value, size_t most) {
  if (value.size() > most || store::CleanLine(value, most) != value) {
    return InvalidArgument(fmt::format("{} must be one line of at most {} printable characters", field, most));
  }
  return absl::OkStatus();
}

absl::Status CheckRunning(const store::SearchRecord& search, const char* what) {
  if (search.state == v1::SEARCH_STATE_RUNNING) return absl::OkStatus();
  return FailedPrecondition(fmt::format(
      "search {} is {}; {} can be injected while a search runs{}", search.id, SearchStateName(search.state), what,
      search.state == v1::SEARCH_STATE_INTAKE ? ": try again when intake is done" : "; submit a new one"));
}

}  // namespace

absl::StatusOr<std::string> Submission::Submit(const v1::SubmitSearchRequest& request) {
  WARPSMITH_RETURN_IF_ERROR(CheckSource("SubmitSearchRequest.source", request.source()));
  if (request.name().empty()) {
    return InvalidArgument("SubmitSearchRequest.name is empty; send the problem file's base name");
  }
  WARPSMITH_RETURN_IF_ERROR(CheckLine("SubmitSearchRequest.name", request.name(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine("SubmitSearchRequest.request_id", request.request_id(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine("SubmitSearchRequest.submitted_by", request.submitted_by(), 200));
  WARPSMITH_RETURN_IF_ERROR(
      CheckLine("SubmitSearchRequest.settings.device_class", request.settings().device_class(), 200));
  WARPSMITH_ASSIGN_OR_RETURN(const search::SearchValues values, search::ResolveSettings(request.settings()));
  const double tolerance = request.settings().intake().tolerance();
  if (!std::isfinite(tolerance) || tolerance < 0 || tolerance > 1) {
    return InvalidArgument("SubmitSearchRequest.settings.intake.tolerance must lie between 0 (default) and 1");
  }
  v1::SearchSettings settings = request.settings();
  if (settings.seed() == 0) settings.set_seed(1);

  const std::string intake = settings.intake().SerializeAsString();
  const std::string problem_id = Sha256Hex(request.source() + '\0' + intake);
  std::string id;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    if (!request.request_id().empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet earlier,
                                 transaction.Execute("search_by_request", {request.request_id()}));
      if (!earlier.empty()) {
        id = earlier[0].Text("id");
        return absl::OkStatus();
      }
    }
    id = store::NewId();
    WARPSMITH_ASSIGN_OR_RETURN(const std::string source_sha256,
                               store::PutBlob(transaction, request.source(), store::kMaxSourceBytes));
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("problem_upsert", {problem_id, request.name(), source_sha256, store::Bytes{intake}})
            .status());
    WARPSMITH_ASSIGN_OR_RETURN(
        const store::ResultSet inserted,
        transaction.Execute("search_insert", {id, request.name(), problem_id, store::NullIfEmpty(request.request_id()),
                                              request.submitted_by(), store::Bytes{settings.SerializeAsString()},
                                              values.strategy, settings.seed(), settings.device_class()}));
    if (inserted.empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet other,
                                 transaction.Execute("search_by_request", {request.request_id()}));
      if (other.empty()) return Internal("two submissions of one request_id met; submit it again");
      id = other[0].Text("id");
      return absl::OkStatus();
    }
    queue::TaskSpec spec;
    spec.kind = queue::TaskKind::kIntake;
    spec.dedupe_key = id + "/intake";
    spec.search_id = id;
    spec.device_class = settings.device_class();
    spec.priority = -10;
    spec.deadline_seconds = settings_.intake_deadline_seconds;
    WARPSMITH_RETURN_IF_ERROR(queue_.Put(transaction, spec).status());
    return store::AddEvent(
        transaction, id,
        fmt::format("submitted: {}, strategy {}, {} rounds", request.name(), values.strategy, values.rounds));
  });
  if (!status.ok()) return status;
  return id;
}

absl::StatusOr<std::string> Submission::InjectIdea(const v1::InjectIdeaRequest& request, std::string* search_id) {
  v1::Idea idea = request.idea();
  if (store::CleanLine(idea.title()).empty()) {
    return InvalidArgument("InjectIdeaRequest.idea.title is empty; say in one line what is to be done");
  }
  WARPSMITH_RETURN_IF_ERROR(CheckLine("InjectIdeaRequest.idea.title", idea.title(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine("InjectIdeaRequest.request_id", request.request_id(), 200));
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
  WARPSMITH_RETURN_IF_ERROR(CheckSource("InjectKernelRequest.source", request.source()));
  WARPSMITH_RETURN_IF_ERROR(CheckLine("InjectKernelRequest.title", request.title(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine("InjectKernelRequest.request_id", request.request_id(), 200));
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
