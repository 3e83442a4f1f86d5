// Small sums that several parts do alike.
// Threading: pure.
#ifndef WARPSMITH_COORDINATOR_SEARCH_NUMBERS_H_
#define WARPSMITH_COORDINATOR_SEARCH_NUMBERS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpsmith::search {

// Of at least one value.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// A place in `weights` (none negative), drawn by `seed`: each has its share, and none a weight of 0. The first where
// all are zero.
inline size_t DrawByWeight(const std::vector<double>& weights, uint64_t seed) {
  double total = 0;
  for (double weight : weights) total += weight;
  const double point = static_cast<double>(seed >> 11) * 0x1.0p-53 * total;
  double sum = 0;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = i;
    sum += weights[i];
    if (point < sum) return i;
  }
  return last;
}

// What another process says, as an amount: 0 for what is none.
inline double Amount(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_NUMBERS_H_
