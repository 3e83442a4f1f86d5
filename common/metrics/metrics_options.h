// The programs' flags for metrics and health. Threading: one thread.
#ifndef WARPSMITH_COMMON_METRICS_METRICS_OPTIONS_H_
#define WARPSMITH_COMMON_METRICS_METRICS_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "common/metrics/metrics_server.h"

namespace warpsmith::metrics {

// --metrics-address and --metrics-port-file; the address's default is what `options` has.
void AddMetricsOptions(CLI::App& app, MetricsOptions* options);

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_METRICS_OPTIONS_H_
