#include "coordinator/engine/search_intake.h"

#include <fmt/format.h>

#include <cmath>

#include "common/hash.h"
#include "coordinator/search/settings.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/records.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

constexpr size_t kMaxSettingsBytes = 64u << 10;

}  // namespace

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

absl::Status CheckSearch(const v1::SubmitSearchRequest& request, const std::string& message) {
  WARPSMITH_RETURN_IF_ERROR(CheckSource(message + ".source", request.source()));
  if (request.name().empty()) {
    return InvalidArgument(message + ".name is empty; send the problem file's base name");
  }
  WARPSMITH_RETURN_IF_ERROR(CheckLine(message + ".name", request.name(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine(message + ".request_id", request.request_id(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine(message + ".submitted_by", request.submitted_by(), 200));
  WARPSMITH_RETURN_IF_ERROR(CheckLine(message + ".settings.device_class", request.settings().device_class(), 200));
  if (const size_t size = request.settings().ByteSizeLong(); size > kMaxSettingsBytes) {
    return InvalidArgument(
        fmt::format("{}.settings have {} bytes; at most {} are taken", message, size, kMaxSettingsBytes));
  }
  WARPSMITH_RETURN_IF_ERROR(search::ResolveSettings(request.settings()).status());
  const double tolerance = request.settings().intake().tolerance();
  if (!std::isfinite(tolerance) || tolerance < 0 || tolerance > 1) {
    return InvalidArgument(message + ".settings.intake.tolerance must lie between 0 (default) and 1");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> InsertSearch(store::Transaction& transaction, queue::TaskQueue& queue,
                                         const EngineSettings& engine_settings, const v1::SubmitSearchRequest& request,
                                         const SearchPlace& place) {
  if (!request.request_id().empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet earlier,
                               transaction.Execute("search_by_request", {request.request_id()}));
    if (!earlier.empty()) return earlier[0].Text("id");
  }
  WARPSMITH_ASSIGN_OR_RETURN(const search::SearchValues values, search::ResolveSettings(request.settings()));
  v1::SearchSettings settings = request.settings();
  if (settings.seed() == 0) settings.set_seed(1);
  const std::string intake = settings.intake().SerializeAsString();
  const std::string problem_id = Sha256Hex(request.source() + '\0' + intake);
  const std::string id = store::NewId();
  WARPSMITH_ASSIGN_OR_RETURN(const std::string source_sha256,
                             store::PutBlob(transaction, request.source(), store::kMaxSourceBytes));
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("problem_upsert", {problem_id, request.name(), source_sha256, store::Bytes{intake}})
          .status());
  const std::string body = settings.SerializeAsString();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet inserted,
      transaction.Execute("search_insert", {id, request.name(), problem_id, store::NullIfEmpty(request.request_id()),
                                            request.submitted_by(), store::Bytes{body}, values.strategy,
                                            settings.seed(), settings.device_class()}));
  if (inserted.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet other,
                               transaction.Execute("search_by_request", {request.request_id()}));
    if (other.empty()) return Internal("two submissions of one request_id met; submit it again");
    return other[0].Text("id");
  }
  if (!place.replaces.empty()) {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_supersede", {place.replaces, id}).status());
  }
  WARPSMITH_RETURN_IF_ERROR(
      transaction
          .Execute("search_place", {id, store::NullIfEmpty(place.batch_id), place.batch_key, place.level, place.number,
                                    place.owner, place.priority, place.admitted, place.paused})
          .status());
  queue::TaskSpec spec;
  spec.kind = queue::TaskKind::kIntake;
  spec.dedupe_key = id + "/intake";
  spec.search_id = id;
  spec.device_class = settings.device_class();
  spec.priority = -10;
  spec.deadline_seconds = engine_settings.intake_deadline_seconds;
  WARPSMITH_RETURN_IF_ERROR(queue.Put(transaction, spec).status());
  WARPSMITH_RETURN_IF_ERROR(
      store::AddEvent(transaction, id,
                      fmt::format("submitted: {}, strategy {}, {} rounds{}", request.name(), values.strategy,
                                  values.rounds, place.admitted ? "" : "; it waits for its turn")));
  return id;
}

}  // namespace warpsmith::engine
