// One process of a cluster: its log in a file, its record on disk, stopped with the signal that it likes.
// Threading: one thread, which must outlive a process started with die_with_parent (Linux ties that to the thread).
// Errors: a process that ends early is explained by the end of its log.
#ifndef WARPSMITH_CLI_EMBEDDED_DAEMON_H_
#define WARPSMITH_CLI_EMBEDDED_DAEMON_H_

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "common/child_process.h"
#include "common/status.h"

namespace warpsmith::cli {

struct DaemonOptions {
  std::string name;  // of its record and in messages
  std::filesystem::path log;
  std::filesystem::path records;
  ChildOptions child;  // arguments, environment, user
  bool stays = false;  // goes on when this program has ended
  int stop_signal = SIGTERM;
  Duration grace = std::chrono::seconds(10);
};

class Daemon {
 public:
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const DaemonOptions& options);
  ~Daemon();  // stops it unless it stays

  const std::string& name() const { return options_.name; }
  pid_t pid() const { return child_->pid(); }
  bool Running() { return child_->Running(); }
  // How it ended, with the end of its log.
  absl::Status Ended();
  void Stop();
  void LeaveRunning();

 private:
  explicit Daemon(DaemonOptions options) : options_(std::move(options)) {}

  DaemonOptions options_;
  std::unique_ptr<ChildProcess> child_;
  bool over_ = false;
};

// The last lines of a log file, indented.
std::string LogEnd(const std::filesystem::path& log, int lines = 8);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EMBEDDED_DAEMON_H_
