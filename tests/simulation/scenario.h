// What one seed stands for: the cluster's settings, the searches, what operators do, how often things go wrong.
// Threading: pure but for the random numbers.
#ifndef WARPSMITH_TESTS_SIMULATION_SCENARIO_H_
#define WARPSMITH_TESTS_SIMULATION_SCENARIO_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/virtual_coordinator.h"
#include "warpsmith/v1/batch.pb.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::simulation {

struct Scenario {
  ClusterSettings cluster;
  int64_t wall_start_us = 0;
  std::vector<v1::SubmitSearchRequest> searches;  // none where there is a batch
  std::optional<v1::SubmitBatchRequest> batch;
  std::vector<int> worker_slots;  // of each worker
  double faulty_seconds = 0;      // after them nothing more goes wrong, and all must come to its end
  FaultRates rates;
};

Scenario DrawScenario(Random& random);

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_SCENARIO_H_
