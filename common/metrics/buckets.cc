#include "common/metrics/buckets.h"

namespace warpsmith::metrics {

std::vector<double> TimeBuckets() {
  return {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
}

std::vector<double> ModelBuckets() { return {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800}; }

std::vector<double> SpeedupBuckets() {
  return {0.1, 0.16, 0.25, 0.4, 0.63, 0.8, 1, 1.25, 1.5, 2, 2.5, 4, 6.3, 10, 16, 25, 40, 63, 100};
}

}  // namespace warpsmith::metrics
