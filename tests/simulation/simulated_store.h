// A real PostgreSQL database in which now() is virtual time, every change is watched by triggers (invariants.sql), and
// which is emptied in milliseconds. Threading: one thread. One connection stays open for all coordinators: statements
// are prepared once. Errors: throws std::runtime_error, since a test cannot go on without.
#ifndef WARPSMITH_TESTS_SIMULATION_SIMULATED_STORE_H_
#define WARPSMITH_TESTS_SIMULATION_SIMULATED_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/store/postgres_database.h"

namespace warpsmith::simulation {

class SimulatedStore {
 public:
  // `broken`: texts that replace statements of the product's, to see that the simulation notices.
  explicit SimulatedStore(const std::map<std::string, std::string>& broken = {});

  store::PostgresDatabase& postgres() { return *postgres_; }
  void Reset();
  // The database's now() in this transaction and those after it.
  absl::Status SetNow(store::Transaction& transaction, int64_t wall_us);
  // As an election does; the caller's transactions need the term from then on.
  int64_t BeginTerm(const std::string& holder);
  store::ResultSet Rows(const std::string& statement, const store::Parameters& parameters = {});

 private:
  std::unique_ptr<store::PostgresDatabase> postgres_;
  std::string conninfo_;
  int resets_ = 0;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_SIMULATED_STORE_H_
