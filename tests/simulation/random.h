// Numbers drawn from a seed, the same on every machine (the standard library's distributions are not).
// Threading: one thread. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#ifndef WARPSMITH_TESTS_SIMULATION_RANDOM_H_
#define WARPSMITH_TESTS_SIMULATION_RANDOM_H_

#include <cmath>
#include <cstdint>

namespace warpsmith::simulation {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  bool Chance(double probability) { return Unit() < probability; }
  double Between(double low, double high) { return low + (high - low) * Unit(); }
  int Int(int low, int high) {  // both may come
    return low + static_cast<int>(Next() % static_cast<uint64_t>(high - low + 1));
  }
  // Even over orders of magnitude.
  double Scale(double low, double high) { return low * std::pow(high / low, Unit()); }

 private:
  uint64_t state_;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_RANDOM_H_
