// Everything that a search needs, on one machine: PostgreSQL, gateway, coordinator, workers; as children of this
// program
// (`run`), or left behind with a record of each (`up`).
// Threading: one thread, which must outlive the cluster. Errors: name the process, the end of its log, and the remedy.
#ifndef WARPSMITH_CLI_EMBEDDED_CLUSTER_H_
#define WARPSMITH_CLI_EMBEDDED_CLUSTER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/embedded/daemon.h"
#include "cli/embedded/data_directory.h"
#include "cli/embedded/postgres.h"
#include "common/status.h"

namespace warpsmith::cli {

struct ClusterOptions {
  std::string device;                           // emulated, cuda; empty: workers find out
  int workers = 0;                              // 0: one a GPU, or one
  std::string gateway_config;                   // file; empty: gateway.yaml of the data directory, if there
  bool stays = false;                           // outlives this program
  std::function<void(const std::string&)> say;  // what is being done, a line each
  std::function<bool()> interrupted;
};

class Cluster {
 public:
  // Starts everything and waits until the coordinator answers and a worker is connected. The data directory must be
  // prepared and locked. On an error, what was started is stopped.
  static absl::StatusOr<std::unique_ptr<Cluster>> Start(const DataDirectory& directory, const ClusterOptions& options);
  ~Cluster();  // stops everything unless it was left running

  const std::string& address() const { return address_; }
  // Looks after the processes: one that has ended is started again, a few times.
  absl::Status Tend();
  void Stop();
  void LeaveRunning();

 private:
  Cluster(const DataDirectory& directory, ClusterOptions options);
  absl::Status StartAll();
  absl::Status StartProgram(const std::string& name);
  absl::Status AwaitSocket(const std::string& address, const std::string& name);
  absl::Status AwaitCluster();

  DataDirectory directory_;
  ClusterOptions options_;
  std::string address_;
  std::unique_ptr<Postgres> postgres_;
  std::map<std::string, DaemonOptions> programs_;
  std::vector<std::string> order_;  // of starting
  std::map<std::string, std::unique_ptr<Daemon>> daemons_;
  std::map<std::string, int> restarts_;
};

// The address of a coordinator of this data directory that answers.
std::optional<std::string> FindRunningCluster(const DataDirectory& directory);

// Stops the processes recorded in the data directory, and no others; the names of those that were stopped.
absl::StatusOr<std::vector<std::string>> StopRecorded(const DataDirectory& directory);

// GPUs that the driver shows; 0 without one.
int CountGpus();

// The environment without what looks like a key: only the gateway is given those.
std::map<std::string, std::string> EnvironmentWithoutSecrets();

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EMBEDDED_CLUSTER_H_
