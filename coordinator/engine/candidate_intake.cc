#include "coordinator/engine/candidate_intake.h"

#include <fmt/format.h>

#include "common/hash.h"
#include "coordinator/engine/batch_share.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/source_identity.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {

absl::Status OrderEvaluation(store::Transaction& transaction, queue::TaskQueue& queue, const EngineSettings& settings,
                             const store::SearchRecord& search, const std::string& candidate_id, int round,
                             const std::string& stage, const std::string& key) {
  queue::TaskSpec spec;
  spec.kind = queue::TaskKind::kEvaluate;
  spec.dedupe_key = key;
  spec.search_id = search.id;
  spec.candidate_id = candidate_id;
  spec.round = round;
  spec.stage = stage;
  spec.seed = static_cast<int64_t>(Sha256Prefix(fmt::format("{}/{}", search.seed, key)) >> 1);
  spec.device_class = search.device_class;
  spec.priority = stage == "confirm" ? -5 : 0;
  spec.deadline_seconds = settings.evaluate_deadline_seconds;
  WARPSMITH_RETURN_IF_ERROR(queue.Put(transaction, spec).status());
  return transaction.Execute("candidate_set_evaluating", {candidate_id}).status();
}

absl::StatusOr<std::string> AddCandidate(store::Transaction& transaction, queue::TaskQueue& queue,
                                         const EngineSettings& settings, const store::SearchRecord& search,
                                         const NewCandidate& candidate) {
  std::string reject_reason = candidate.reject_reason;
  std::string reject_message = candidate.reject_message;
  if (reject_reason.empty() && candidate.source.empty()) reject_reason = "no_code";
  if (reject_reason.empty() && candidate.source.size() > store::kMaxSourceBytes) {
    reject_reason = "too_large";
    reject_message =
        fmt::format("the file has {} bytes; at most {} are taken", candidate.source.size(), store::kMaxSourceBytes);
  }
  const bool rejected = !reject_reason.empty();
  std::string source_sha256, normalized_sha256, renamed_sha256;
  if (!rejected) {
    WARPSMITH_ASSIGN_OR_RETURN(source_sha256, store::PutBlob(transaction, candidate.source, store::kMaxSourceBytes));
    normalized_sha256 = Sha256Hex(store::NormalizeSource(candidate.source));
    renamed_sha256 = Sha256Hex(store::RenameSource(candidate.source));
  }
  const std::string id = store::NewId();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute(
          "candidate_insert",
          {id, search.id, store::NullIfEmpty(candidate.idea_id), candidate.parent_id, candidate.round, candidate.index,
           candidate.repair_attempt, store::NullIfEmpty(candidate.repair_of), store::NullIfEmpty(candidate.request_id),
           store::CleanLine(candidate.title, 200), store::CleanLine(candidate.model, 200),
           store::NullIfEmpty(source_sha256), store::NullIfEmpty(normalized_sha256), rejected ? "rejected" : "queued",
           store::CleanLine(reject_reason, 60), store::CleanText(reject_message, 2000),
           store::NullIfEmpty(renamed_sha256),
           candidate.reservation == 0 ? store::Parameter(std::nullopt) : candidate.reservation}));
  if (rows.empty()) return std::string();
  if (rejected) return id;

  WARPSMITH_RETURN_IF_ERROR(
      PlaceCandidate(transaction, queue, settings, search, {id, candidate.round, normalized_sha256, renamed_sha256}));
  return id;
}

absl::Status PlaceCandidate(store::Transaction& transaction, queue::TaskQueue& queue, const EngineSettings& settings,
                            const store::SearchRecord& search, const PlacedSource& source) {
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet same,
      transaction.Execute("candidate_same", {search.id, source.renamed_sha256, source.normalized_sha256, source.id}));
  if (!same.empty()) {
    const std::string first = same[0].Text("id");
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("candidate_set_duplicate", {source.id, first}).status());
    if (same[0].Text("state") != "done") return absl::OkStatus();
    return transaction.Execute("candidates_copy_results", {std::vector<std::string>{first}}).status();
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet elsewhere,
                             transaction.Execute("candidate_reusable", {search.reuse_key, source.renamed_sha256,
                                                                        source.normalized_sha256, search.id}));
  if (!elsewhere.empty()) {
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("candidate_reuse_result", {source.id, elsewhere[0].Text("id")}).status());
    return transaction.Execute("searches_refresh_best", {std::vector<std::string>{search.id}}).status();
  }
  // Where its batch has no GPU time to spare just now it stays queued: the strategy orders it when there is.
  WARPSMITH_ASSIGN_OR_RETURN(const int room, GpuRoom(transaction, search.batch_id, search.id));
  if (room == 0) return absl::OkStatus();
  return OrderEvaluation(transaction, queue, settings, search, source.id, source.round, "measure",
                         fmt::format("{}/measure/{}", search.id, source.id));
}

}  // namespace warpsmith::engine
