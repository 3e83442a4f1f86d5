// A deterministic simulation of a whole cluster: one coordinator (or two that fight), workers, a gateway, operators, a
// real database with virtual time, and faults everywhere, all drawn from one seed and stepped by one thread. The same
// seed gives the same trace to the byte. What must hold is checked at each statement (invariants.sql), at each message
// (link.cc), and at the end (final_check.cc). Threading: one simulation at a time in a process.
#ifndef WARPSMITH_TESTS_SIMULATION_SIMULATION_H_
#define WARPSMITH_TESTS_SIMULATION_SIMULATION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/simulated_store.h"

namespace warpsmith::simulation {

struct Report {
  uint64_t seed = 0;
  uint64_t trace_hash = 0;
  std::vector<std::string> violations;  // empty: all is well
  std::deque<std::string> trace;        // its end, or all of it
  double virtual_seconds = 0;
  int64_t events = 0;
  int64_t transactions = 0;
  int64_t statements = 0;
  int coordinators = 0;                // that led, one after the other
  std::map<std::string, int> endings;  // of searches: state and reason
};

Report Simulate(SimulatedStore& simulated, uint64_t seed, bool whole_trace = false);

// For people: what was violated, the trace, how to see it again.
std::string Describe(const Report& report);

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_SIMULATION_H_
