#include "coordinator/metrics/observed_database.h"

namespace warpsmith::metrics {
namespace {

class ObservedTransaction final : public store::Transaction {
 public:
  ObservedTransaction(store::Transaction& transaction, DatabaseObserver& observer, CommittedCounts& counts)
      : transaction_(transaction), observer_(observer), counts_(counts) {}

  absl::StatusOr<store::ResultSet> Execute(std::string_view statement, const store::Parameters& parameters) override {
    auto rows = transaction_.Execute(statement, parameters);
    if (rows.ok()) {
      counts_.Add(statement, *rows);
    } else if (!absl::IsAlreadyExists(rows.status())) {
      failed_ = true;
      observer_.OnDatabaseError(rows.status().code());
    }
    return rows;
  }

  bool failed() const { return failed_; }

 private:
  store::Transaction& transaction_;
  DatabaseObserver& observer_;
  CommittedCounts& counts_;
  bool failed_ = false;
};

}  // namespace

absl::Status ObservedDatabase::Run(const store::Work& work, bool write) {
  CommittedCounts counts;
  bool told = false;  // why it failed: by a statement, or it is the work's own
  const auto observed = [&](store::Transaction& inner) -> absl::Status {
    counts = {};
    ObservedTransaction transaction(inner, observer_, counts);
    absl::Status status = work(transaction);
    told = transaction.failed() || !status.ok();
    return status;
  };
  absl::Status status = write ? database_.Write(observed) : database_.Read(observed);
  if (status.ok()) {
    if (write) observer_.OnCommitted(counts);
  } else if (!told) {
    observer_.OnDatabaseError(status.code());
  }
  return status;
}

}  // namespace warpsmith::metrics
