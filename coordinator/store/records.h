// Searches, ideas and candidates as they stand in the database.
// Threading: pure functions over a transaction. Units: milliseconds; microseconds since 1970 UTC.
#ifndef WARPSMITH_COORDINATOR_STORE_RECORDS_H_
#define WARPSMITH_COORDINATOR_STORE_RECORDS_H_

#include <string>
#include <vector>

#include "coordinator/store/database.h"
#include "warpsmith/v1/search.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::store {

struct SearchRecord {
  std::string id;
  std::string name;
  std::string problem_id;
  std::string problem_sha256;
  std::string batch_id;
  std::string submitted_by;
  v1::SearchState state = v1::SEARCH_STATE_UNSPECIFIED;
  std::string error;
  std::string finish_reason;
  v1::SearchSettings settings;
  v1::IntakeSettings intake;
  std::string strategy;
  int64_t seed = 0;
  v1::ProblemSignature signature;
  v1::DeviceDescription device;
  std::string device_class;
  bool emulated = false;
  std::string operator_family;
  std::string reuse_key;  // searches with the same one judge alike; empty: not known
  double eager_ms = 0;    // PyTorch's default time; 0: not known
  int round = 0;
  int64_t decision_seq = 0;
  std::string best_candidate_id;
  double best_ms = 0;
  double best_ratio = 0;
  int64_t submitted_us = 0;
  int64_t finished_us = 0;
  std::string owner;        // whose quota it counts against
  int priority = 0;         // larger goes first
  bool paused = false;      // its tasks are not handed out, and nothing is decided
  bool admitted = true;     // false: it waits for a place in its batch or its owner's quota
  int granted_rounds = 0;   // in a batch: the last round that it may begin
  std::string stop_reason;  // its batch ends it where it stands between two rounds; empty: it does not
};

struct IdeaRecord {
  v1::Idea idea;
  std::string search_id;
  std::string parent_id;
  int round = 1;
  int requested = 0;
  int delivered = 0;
  bool operator_injected = false;
};

struct CandidateRecord {
  std::string id, search_id, idea_id, parent_id, repair_of, duplicate_of, twin_of;
  bool reused = false;  // duplicate_of is another search's
  int round = 1;
  int index = 0;
  int repair_attempt = 0;
  std::string title;  // of an injected kernel
  std::string model;
  std::string source_sha256;
  std::string state;  // queued, evaluating, done, rejected
  std::string reject_reason, reject_message;
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string reason, message;
  double median_ms = 0;
  double spread = 0;
  double log_ratio = 0;
  double ratio_to_eager = 0;
  v1::Evaluation evaluation;  // where it was asked for
};

v1::SearchState ParseSearchState(const std::string& name);

absl::StatusOr<SearchRecord> GetSearch(Transaction& transaction, const std::string& id);
absl::StatusOr<std::vector<v1::Baseline>> GetBaselines(Transaction& transaction, const std::string& search_id);
absl::StatusOr<std::vector<IdeaRecord>> GetIdeas(Transaction& transaction, const std::string& search_id);
absl::StatusOr<IdeaRecord> GetIdea(Transaction& transaction, const std::string& id);
absl::StatusOr<std::vector<CandidateRecord>> GetCandidates(Transaction& transaction, const std::string& search_id,
                                                           bool with_evaluations);
absl::StatusOr<CandidateRecord> GetCandidate(Transaction& transaction, const std::string& id);
absl::StatusOr<v1::Usage> GetUsage(Transaction& transaction, const std::string& search_id);

absl::Status AddEvent(Transaction& transaction, const std::string& search_id, const std::string& line);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_RECORDS_H_
