// Where a cluster of one machine keeps everything: the database, logs, records of processes, sockets, winning kernels.
//   database/        PostgreSQL's, owned by the user that it runs as
//   run/             process records, the lock
//   logs/            one file a process
//   kernels/         winners, as .cu files
//   gateway/         replies of models, so that none is paid for twice
//   gateway.yaml     models (optional)
// Sockets lie in run/ where their paths are short enough for Linux, else in a folder of ours under /tmp.
// Threading: one thread. Errors: name the folder and the remedy.
#ifndef WARPSMITH_CLI_EMBEDDED_DATA_DIRECTORY_H_
#define WARPSMITH_CLI_EMBEDDED_DATA_DIRECTORY_H_

#include <filesystem>
#include <string>

#include "common/status.h"

namespace warpsmith::cli {

// --data-dir; else XDG_DATA_HOME/warpsmith; else for root /var/lib/warpsmith (its home is closed to the user that
// PostgreSQL runs as), for others ~/.local/share/warpsmith.
absl::StatusOr<std::filesystem::path> DataDirectoryPath(const std::string& given);

class DataDirectory {
 public:
  explicit DataDirectory(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path run_folder() const { return path_ / "run"; }
  std::filesystem::path log(const std::string& process) const { return path_ / "logs" / (process + ".log"); }
  std::filesystem::path database() const { return path_ / "database"; }
  std::filesystem::path kernels() const { return path_ / "kernels"; }
  const std::filesystem::path& socket_folder() const { return sockets_; }
  std::string gateway_address() const { return "unix:" + (sockets_ / "gateway.sock").string(); }
  std::string coordinator_address() const { return "unix:" + (sockets_ / "coordinator.sock").string(); }

  // Makes what is missing; checks that it can be written to.
  absl::Status Prepare() const;

 private:
  std::filesystem::path path_;
  std::filesystem::path sockets_;
};

// Held by the program that starts or stops a cluster, for as long as the cluster depends on it.
class DataDirectoryLock {
 public:
  // FailedPrecondition names the process that holds it and what it does with it.
  static absl::StatusOr<DataDirectoryLock> Take(const DataDirectory& directory, const std::string& purpose);
  ~DataDirectoryLock();
  DataDirectoryLock(DataDirectoryLock&& other) noexcept;
  DataDirectoryLock& operator=(DataDirectoryLock&&) = delete;

 private:
  explicit DataDirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EMBEDDED_DATA_DIRECTORY_H_
