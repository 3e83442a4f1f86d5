// One coordinator's way to the database, with faults drawn from the seed: not reached, an error at any statement
// (connection lost, deadlock, disk full, timeout), a commit of which nobody hears, the coordinator's death in the
// middle or right after a commit. Faults are made outside the database: a transaction that meets one is rolled back and
// its later statements fail, as PostgreSQL would have it. Threading: one thread.
#ifndef WARPSMITH_TESTS_SIMULATION_FAULTY_DATABASE_H_
#define WARPSMITH_TESTS_SIMULATION_FAULTY_DATABASE_H_

#include <string>

#include "coordinator/store/database.h"
#include "tests/simulation/simulated_store.h"
#include "tests/simulation/world.h"

namespace warpsmith::simulation {

// A coordinator dies here. No std::exception, so that nothing between takes it for an error.
struct CoordinatorCrash {};

class FaultyDatabase final : public store::Database {
 public:
  FaultyDatabase(World& world, SimulatedStore& simulated, const Clock& clock, std::string coordinator)
      : world_(world), simulated_(simulated), clock_(clock), coordinator_(std::move(coordinator)) {}

  absl::Status Write(const store::Work& work) override { return Run(work, true); }
  absl::Status Read(const store::Work& work) override { return Run(work, false); }

  void SetTerm(int64_t term) { term_ = term; }
  // A newer coordinator leads: from here on nothing that this one writes may be committed.
  void Supersede() { superseded_ = true; }
  // Whether the last transaction ended with an error; callers that poll come back sooner then.
  bool failed() const { return failed_; }

 private:
  absl::Status Run(const store::Work& work, bool write);
  absl::Status RunWithFaults(const store::Work& work, bool write);

  World& world_;
  SimulatedStore& simulated_;
  const Clock& clock_;
  const std::string coordinator_;
  int64_t term_ = 0;
  bool superseded_ = false;
  bool failed_ = false;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_FAULTY_DATABASE_H_
