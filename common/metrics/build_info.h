// Which program this is, as a metric whose labels change with a deployment. Threading: pure.
#ifndef WARPSMITH_COMMON_METRICS_BUILD_INFO_H_
#define WARPSMITH_COMMON_METRICS_BUILD_INFO_H_

#include <string>

#include "common/metrics/telemetry.h"

namespace warpsmith::metrics {

// Always 1, with the labels version, revision and harness_revision.
void AddBuildInfo(Telemetry& telemetry, const std::string& name);

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_BUILD_INFO_H_
