// What must hold when a simulation has come to rest: the database against itself, and against what truly happened.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_SIMULATION_FINAL_CHECK_H_
#define WARPSMITH_TESTS_SIMULATION_FINAL_CHECK_H_

#include "tests/simulation/scenario.h"
#include "tests/simulation/virtual_operator.h"

namespace warpsmith::simulation {

// Violations go to the world.
void CheckAtRest(World& world, SimulatedStore& simulated, const Scenario& scenario, const VirtualOperator& asked);

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_FINAL_CHECK_H_
