// A private PostgreSQL: a cluster of files of its own, a Unix socket and no network, never as root. Only the operator's
// own user is let in (peer), by the name `warpsmith`.
// Threading: as daemon.h. Errors: name the missing program, the folder in the way or the end of the log, and the
// remedy.
#ifndef WARPSMITH_CLI_EMBEDDED_POSTGRES_H_
#define WARPSMITH_CLI_EMBEDDED_POSTGRES_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "cli/embedded/daemon.h"
#include "cli/embedded/data_directory.h"
#include "cli/embedded/service_user.h"
#include "common/status.h"

namespace warpsmith::cli {

// The folder with initdb and postgres: WARPSMITH_POSTGRES_BIN, else the newest of Debian's, else PATH. `major` not
// empty: that version only (files of one version cannot be opened by another).
absl::StatusOr<std::filesystem::path> FindPostgres(const std::string& major = "");

class Postgres {
 public:
  // Makes the files where there are none; stops what a killed run left behind; waits until it takes connections.
  // `interrupted` ends the wait with Cancelled.
  static absl::StatusOr<std::unique_ptr<Postgres>> Start(const DataDirectory& directory, bool stays,
                                                         const std::function<bool()>& interrupted);

  const std::string& connection() const { return connection_; }  // for libpq; holds no secret
  Daemon& daemon() { return *daemon_; }

 private:
  Postgres() = default;

  std::string connection_;
  std::unique_ptr<Daemon> daemon_;
};

// Before a start: a living postmaster of these files is stopped; then the files by which PostgreSQL tells that it runs
// are removed. For the holder of the data directory's lock only.
absl::Status ClearPostmaster(const std::filesystem::path& files, const std::filesystem::path& sockets);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EMBEDDED_POSTGRES_H_
