// /metrics, /healthz and /readyz of a process over plain HTTP, with threads of its own.
// Threading: Start and the destructor from one thread. Errors: what is wrong with the address, and the remedy.
#ifndef WARPSMITH_COMMON_METRICS_METRICS_SERVER_H_
#define WARPSMITH_COMMON_METRICS_METRICS_SERVER_H_

#include <memory>
#include <string>

#include "common/metrics/telemetry.h"
#include "common/status.h"

struct mg_context;
struct mg_connection;

namespace warpsmith::metrics {

class MetricsServer {
 public:
  // `address`: HOST:PORT with an IP address, "localhost" or nothing (every address of this machine) as host; port 0:
  // any free one. `telemetry` outlives this. Unavailable where the address is in use.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& address, Telemetry& telemetry);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  int port() const { return port_; }

 private:
  explicit MetricsServer(Telemetry& telemetry) : telemetry_(telemetry) {}
  static int Answer(mg_connection* connection, void* self);
  int Respond(mg_connection* connection) const;

  Telemetry& telemetry_;
  mg_context* context_ = nullptr;
  std::string host_;  // where it listens; empty: everywhere
  int port_ = 0;
};

struct MetricsOptions {
  std::string address;    // as MetricsServer takes it; empty: none
  std::string port_file;  // written with the port once it listens
  bool given = false;     // the address is the operator's choice, not the default
};

// The server, or null where there is to be none, and where the default address is in use: two workers on a machine are
// no reason for the second one not to start. An address that was given must be free.
absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetrics(const MetricsOptions& options, Telemetry& telemetry);

// HOST:PORT with a port that is larger by `number`; as it is where that cannot be.
std::string AddressOfNumber(const std::string& address, int number);

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_METRICS_SERVER_H_
