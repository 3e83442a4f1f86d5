// A real PostgreSQL for tests: initdb in a folder of its own, on a Unix socket only, as an unprivileged user where the
// test runs as root. Gone with the object. Threading: one thread at a time.
#ifndef WARPSMITH_TESTS_SUPPORT_POSTGRES_SERVER_H_
#define WARPSMITH_TESTS_SUPPORT_POSTGRES_SERVER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/child_process.h"
#include "common/file.h"
#include "common/status.h"

namespace warpsmith::testing {

class PostgresServer {
 public:
  static absl::StatusOr<std::unique_ptr<PostgresServer>> Start();
  // With these settings ("fsync=on") in place of those that make tests quick.
  static absl::StatusOr<std::unique_ptr<PostgresServer>> Start(std::vector<std::string> settings);
  ~PostgresServer();

  // The one of this test program, started at first use; aborts where it cannot start.
  static PostgresServer& Shared();

  // A fresh empty database; returns its conninfo.
  std::string CreateDatabase();
  std::string Conninfo(const std::string& database) const;
  pid_t pid() const { return server_->pid(); }

  // As kill -9 would leave it (immediate shutdown): every connection breaks.
  void Crash();
  void Resume();  // starts it again after Crash

  // Ends every connection but this one's to the database of `conninfo`.
  void TerminateConnections(const std::string& conninfo);

  // Runs SQL through psql; returns unaligned rows, one a line. Aborts on an error.
  std::string Query(const std::string& conninfo, const std::string& sql);

 private:
  PostgresServer(TemporaryDirectory folder, std::vector<std::string> settings)
      : settings_(std::move(settings)), folder_(std::move(folder)) {}
  absl::Status Launch();

  const std::vector<std::string> settings_;
  TemporaryDirectory folder_;
  std::string binaries_;
  std::optional<uid_t> uid_;
  std::optional<gid_t> gid_;
  std::unique_ptr<ChildProcess> server_;
  int databases_ = 0;
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_SUPPORT_POSTGRES_SERVER_H_
