// While it lives, RAND_bytes of OpenSSL, and with it every id that the coordinator makes, is drawn from a seed.
// Threading: one at a time in a process, and nothing else in the process may need secrets meanwhile.
#ifndef WARPSMITH_TESTS_SIMULATION_SEEDED_IDS_H_
#define WARPSMITH_TESTS_SIMULATION_SEEDED_IDS_H_

#include <cstdint>

namespace warpsmith::simulation {

class SeededIds {
 public:
  explicit SeededIds(uint64_t seed);
  ~SeededIds();
  SeededIds(const SeededIds&) = delete;
  SeededIds& operator=(const SeededIds&) = delete;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_SEEDED_IDS_H_
