#include "coordinator/metrics/observed_database.h"

#include <catch2/catch.hpp>
#include <deque>

namespace warpsmith::metrics {
namespace {

struct Heard final : DatabaseObserver {
  void OnCommitted(const CommittedCounts& counts) override { committed.push_back(counts); }
  void OnDatabaseError(absl::StatusCode code) override { errors.push_back(code); }
  std::vector<CommittedCounts> committed;
  std::vector<absl::StatusCode> errors;
};

// Answers each statement with the next result; runs the work again as often as told to, as after a deadlock.
struct ScriptedDatabase final : store::Database, store::Transaction {
  absl::Status Write(const store::Work& work) override {
    if (!connect.ok()) return connect;
    for (int i = 0; i < deadlocks; ++i) (void)work(*this);
    const absl::Status status = work(*this);
    return status.ok() ? commit : status;
  }
  absl::Status Read(const store::Work& work) override { return Write(work); }
  absl::StatusOr<store::ResultSet> Execute(std::string_view, const store::Parameters&) override {
    if (!failure.ok()) return failure;
    store::ResultSet set;
    set.columns = {"kind", "waited"};
    set.rows = {{std::string("evaluate"), std::string("1")}};
    return set;
  }
  absl::Status connect, commit, failure;
  int deadlocks = 0;
};

const store::Work kClaim = [](store::Transaction& transaction) {
  return transaction.Execute("task_claim", {}).status();
};

TEST_CASE("what is run again counts once, what is rolled back not at all", "[unit]") {
  ScriptedDatabase scripted;
  Heard heard;
  ObservedDatabase database(scripted, heard);
  scripted.deadlocks = 3;
  CHECK(database.Write(kClaim).ok());
  REQUIRE(heard.committed.size() == 1);
  CHECK(heard.committed[0].claims.at("evaluate") == 1);

  scripted.commit = Unavailable("lost");
  CHECK_FALSE(database.Write(kClaim).ok());
  CHECK(heard.committed.size() == 1);
  CHECK(heard.errors == std::vector<absl::StatusCode>{absl::StatusCode::kUnavailable});
}

TEST_CASE("errors are the database's: not those of the work, and not a key that was there", "[unit]") {
  ScriptedDatabase scripted;
  Heard heard;
  ObservedDatabase database(scripted, heard);
  CHECK_FALSE(database.Write([](store::Transaction&) { return InvalidArgument("the caller's mistake"); }).ok());
  scripted.failure = MakeStatus(absl::StatusCode::kAlreadyExists, "unique");
  CHECK_FALSE(database.Read(kClaim).ok());
  CHECK(heard.errors.empty());
  scripted.failure = ResourceExhausted("disk full");
  CHECK_FALSE(database.Write(kClaim).ok());
  scripted.failure = {};
  scripted.connect = Unavailable("refused");
  CHECK_FALSE(database.Read(kClaim).ok());
  CHECK(heard.errors ==
        std::vector<absl::StatusCode>{absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnavailable});
}

}  // namespace
}  // namespace warpsmith::metrics
