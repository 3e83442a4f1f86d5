// Batches as they stand in the database.
// Threading: pure functions over a transaction. Errors: NotFound and InvalidArgument name the id or field and the
// remedy.
#ifndef WARPSMITH_COORDINATOR_BATCH_BATCH_RECORDS_H_
#define WARPSMITH_COORDINATOR_BATCH_BATCH_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/store/database.h"
#include "warpsmith/v1/batch.pb.h"

namespace warpsmith::batch {

struct BatchRecord {
  std::string id;
  std::string name;
  std::string owner;
  std::string submitted_by;
  std::string state;  // assembling, running, done, cancelled
  bool paused = false;
  v1::BatchLimits limits;
  double used_usd = 0;
  int64_t used_tokens = 0;
  double reserved_usd = 0;  // for calls under way
  int64_t submitted_us = 0;
  int64_t finished_us = 0;

  bool limited() const { return limits.max_usd() > 0 || limits.max_tokens() > 0 || limits.max_gpu_hours() > 0; }
};

absl::StatusOr<BatchRecord> GetBatch(store::Transaction& transaction, const std::string& id);
// A whole id or a prefix of at least 6 characters that only one has.
absl::StatusOr<std::string> ResolveBatch(store::Transaction& transaction, const std::string& prefix);

absl::Status CheckLimits(const v1::BatchLimits& limits, const std::string& message);

}  // namespace warpsmith::batch

#endif  // WARPSMITH_COORDINATOR_BATCH_BATCH_RECORDS_H_
