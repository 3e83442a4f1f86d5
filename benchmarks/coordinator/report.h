// The benchmark's results, as a table for people and as JSON.
// Threading: pure functions.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_REPORT_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_REPORT_H_

#include <string>

#include "benchmarks/coordinator/parts.h"
#include "common/json.h"

namespace warpsmith::bench {

std::string Shown(const Throughput& throughput);
std::string Shown(const Latency& latency);
std::string Shown(const Kill& kill);
std::string Shown(const Replay& replay);
std::string Shown(const Wrong& wrong);
std::string Peers();

Json Told(const Throughput& throughput);
Json Told(const Latency& latency);
Json Told(const Kill& kill);
Json Told(const Replay& replay);
Json Told(const Wrong& wrong);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_REPORT_H_
