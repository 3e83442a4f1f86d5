// Upper bounds of histograms' buckets. Threading: pure. Units: seconds, but ratios where named so.
#ifndef WARPSMITH_COMMON_METRICS_BUCKETS_H_
#define WARPSMITH_COMMON_METRICS_BUCKETS_H_

#include <vector>

namespace warpsmith::metrics {

// 1, 2 and 5 a decade, 1 ms to 1000 s: work of the queue and of devices.
std::vector<double> TimeBuckets();
// 0.1 s to 1800 s: answers of language models, that in the background included.
std::vector<double> ModelBuckets();
// 0.1 to 100, closest around 1: how many times faster.
std::vector<double> SpeedupBuckets();

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_BUCKETS_H_
