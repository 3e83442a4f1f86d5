// A whole coordinator in one object: elected, migrated, serving. main.cc and tests start it.
// Threading: Start and Stop from one thread. Errors: Start's texts name the remedy.
#ifndef WARPSMITH_COORDINATOR_COORDINATOR_H_
#define WARPSMITH_COORDINATOR_COORDINATOR_H_

#include <functional>
#include <memory>
#include <string>

#include "common/metrics/metrics_server.h"
#include "common/security_settings.h"
#include "common/status.h"
#include "coordinator/engine/settings.h"
#include "coordinator/operations/janitor.h"
#include "coordinator/queue/task_queue.h"

namespace warpsmith {

struct CoordinatorOptions {
  std::string listen = "127.0.0.1:7700";  // host:port (port 0: any) or unix:path
  std::string database;                   // libpq's conninfo or URL
  std::string gateway = "127.0.0.1:7701";
  int database_connections = 12;
  double statement_timeout_seconds = 60;          // the server ends a statement of ours that takes longer
  SecuritySettings security = ProcessSecurity();  // of the listener and of the connection to the gateway
  double election_patience_seconds = 3;           // how long to wait for a predecessor's lock to go away
  std::function<bool()> give_up;                  // asked while waiting for that: whether to stop instead
  double stop_seconds = 5;                        // for open calls at shutdown
  queue::QueueSettings queue;
  engine::EngineSettings engine;
  operations::OperationsSettings operations;
  metrics::MetricsOptions metrics;  // by default none
  // Called once, from another thread, when another coordinator leads: this one must end.
  std::function<void(const std::string&)> on_lost;
};

class Coordinator {
 public:
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(const CoordinatorOptions& options);
  virtual ~Coordinator() = default;      // stops
  virtual int port() const = 0;          // bound; 0 for Unix sockets
  virtual int metrics_port() const = 0;  // 0: there are none
  virtual const queue::QueueCounters& counters() const = 0;
  virtual void Stop() = 0;
};

}  // namespace warpsmith

#endif  // WARPSMITH_COORDINATOR_COORDINATOR_H_
