// Thins out what a search leaves behind once it has ended: finished tasks, raw replies, samples and profiles, event
// lines; and blobs that nothing refers to. What the bank holds, a search's best and what a running search takes its
// results from stay whole. Every step is a few small transactions, so that it never holds up the queue.
// Threading: Step by one thread at a time; removed() from any. Units: days; 0 keeps for ever.
#ifndef WARPSMITH_COORDINATOR_OPERATIONS_RETENTION_H_
#define WARPSMITH_COORDINATOR_OPERATIONS_RETENTION_H_

#include <array>
#include <atomic>
#include <string>

#include "coordinator/store/database.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::operations {

struct RetentionSettings {
  double finished_task_days = 7;     // counted from the end of the search, as the next three
  double evaluation_body_days = 30;  // samples and profiles of kernels that are neither best nor in the bank
  double raw_reply_days = 90;        // models' replies as they came; ideas and sources stay
  double event_days = 180;           // progress lines
  double blob_days = 30;             // of blobs that no row refers to, since they were last put in
  int batch = 200;                   // rows a transaction
};

enum class Kept { kFinishedTasks, kEvaluationBodies, kRawReplies, kEvents, kBlobs };
inline constexpr std::array kAllKept = {Kept::kFinishedTasks, Kept::kEvaluationBodies, Kept::kRawReplies, Kept::kEvents,
                                        Kept::kBlobs};
std::string KeptName(Kept kept);  // "finished_tasks"

// Without raw samples and all of the profile but what bounds the kernel.
void Trim(v1::Evaluation* evaluation);

class Retention {
 public:
  Retention(store::Database& database, const RetentionSettings& settings) : database_(database), settings_(settings) {}

  // One batch of each kind. True: there is more to do at once. An error of one kind does not keep the others from
  // their turn; the first is returned.
  absl::StatusOr<bool> Step();
  // Begins another round over the blobs, which are gone through once and then left alone.
  void LookAtBlobsAgain() { blobs_done_ = false; }

  const RetentionSettings& settings() const { return settings_; }
  double Days(Kept kept) const;
  int64_t removed(Kept kept) const { return removed_[static_cast<size_t>(kept)]; }  // rows since the start

 private:
  absl::StatusOr<bool> OfSearch(Kept kept);
  absl::StatusOr<int64_t> TrimBodies(store::Transaction& transaction, const std::string& search_id);
  absl::StatusOr<bool> Blobs();

  store::Database& database_;
  const RetentionSettings settings_;
  std::string last_blob_;
  bool blobs_done_ = false;
  std::array<std::atomic<int64_t>, kAllKept.size()> removed_{};
};

}  // namespace warpsmith::operations

#endif  // WARPSMITH_COORDINATOR_OPERATIONS_RETENTION_H_
