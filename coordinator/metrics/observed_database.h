// A database that tells what committed and what failed, and is otherwise the one beneath.
// Threading: as the database beneath.
#ifndef WARPSMITH_COORDINATOR_METRICS_OBSERVED_DATABASE_H_
#define WARPSMITH_COORDINATOR_METRICS_OBSERVED_DATABASE_H_

#include <string>

#include "coordinator/metrics/committed_counts.h"
#include "coordinator/store/database.h"

namespace warpsmith::metrics {

class DatabaseObserver {
 public:
  virtual ~DatabaseObserver() = default;
  virtual void OnCommitted(const CommittedCounts& counts) = 0;
  // A statement, a commit or a connection failed. A unique key that was there already is no failure.
  virtual void OnDatabaseError(absl::StatusCode code) = 0;
};

class ObservedDatabase final : public store::Database {
 public:
  // Both outlive this.
  ObservedDatabase(store::Database& database, DatabaseObserver& observer) : database_(database), observer_(observer) {}

  absl::Status Write(const store::Work& work) override { return Run(work, /*write=*/true); }
  absl::Status Read(const store::Work& work) override { return Run(work, /*write=*/false); }

 private:
  absl::Status Run(const store::Work& work, bool write);

  store::Database& database_;
  DatabaseObserver& observer_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COORDINATOR_METRICS_OBSERVED_DATABASE_H_
