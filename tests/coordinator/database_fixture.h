// A migrated database of a test's own. Threading: one thread.
#ifndef WARPSMITH_TESTS_COORDINATOR_DATABASE_FIXTURE_H_
#define WARPSMITH_TESTS_COORDINATOR_DATABASE_FIXTURE_H_

#include <memory>
#include <string>

#include "common/clock.h"
#include "coordinator/store/migrator.h"
#include "coordinator/store/postgres_database.h"
#include "tests/support/postgres_server.h"

namespace warpsmith::testing {

struct DatabaseFixture {
  DatabaseFixture()
      : conninfo(PostgresServer::Shared().CreateDatabase()),
        version(store::Migrate(conninfo, store::LoadShippedMigrations().value()).value()),
        database(conninfo, store::SqlLibrary::LoadShipped().value(), 4, RealClock()) {}

  std::string Query(const std::string& sql) { return PostgresServer::Shared().Query(conninfo, sql); }

  // Runs `work` in a transaction of its own and hands its value out; fails the test on an error.
  template <typename T>
  T Run(const std::function<absl::StatusOr<T>(store::Transaction&)>& work) {
    absl::StatusOr<T> result;
    absl::Status status = database.Write([&](store::Transaction& transaction) -> absl::Status {
      result = work(transaction);
      return result.status();
    });
    if (!status.ok()) throw std::runtime_error(Message(status));
    return std::move(result).value();
  }

  const std::string conninfo;
  const int version;
  store::PostgresDatabase database;
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_DATABASE_FIXTURE_H_
