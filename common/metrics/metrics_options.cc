#include "common/metrics/metrics_options.h"

namespace warpsmith::metrics {

void AddMetricsOptions(CLI::App& app, MetricsOptions* options) {
  app.add_option_function<std::string>(
         "--metrics-address",
         [options](const std::string& address) {
           options->address = address;
           options->given = true;
         },
         "HOST:PORT of /metrics, /healthz and /readyz, plain HTTP without a token; port 0: any free one; \"\": none")
      ->default_str(options->address);
  app.add_option("--metrics-port-file", options->port_file, "write that port to this file once it listens");
}

}  // namespace warpsmith::metrics
