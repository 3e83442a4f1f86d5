// Loads on a target: closed (so many requests always under way), open (so many a second, whatever becomes of them), and
// with many slow streams open besides.
// Threading: one at a time. Units: seconds; latencies of an open load count from when a request was due.
#ifndef WARPSMITH_BENCHMARKS_GATEWAY_MEASURE_H_
#define WARPSMITH_BENCHMARKS_GATEWAY_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/gateway/target.h"

namespace warpsmith::bench {

struct Result {
  int64_t requests = 0;
  int64_t failed = 0;
  double seconds = 0;
  double p50 = 0;  // of whole answers
  double p99 = 0;
  double first_p50 = 0;  // of the first byte
  double first_p99 = 0;
  double per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
};

Result Closed(Target& target, int concurrency, double seconds);
Result Open(Target& target, double per_second, double seconds);
// `streams` slow answers are under way all the time while probes for them are made, `per_second`.
Result WithStreams(Target& target, int streams, double per_second, double seconds);

// Of a process, from /proc; zeros where it cannot be read.
double CpuSeconds(int pid);
double ResidentMegabytes(int pid);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_GATEWAY_MEASURE_H_
