// Small sums that several parts do alike.
// Threading: pure.
#ifndef WARPSMITH_COORDINATOR_SEARCH_NUMBERS_H_
#define WARPSMITH_COORDINATOR_SEARCH_NUMBERS_H_

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpsmith::search {

// Of at least one value.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// What another process says, as an amount: 0 for what is none.
inline double Amount(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_NUMBERS_H_
