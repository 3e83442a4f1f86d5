// What is measured: a PostgreSQL server of the benchmark's own with its default durability, the warpsmith-coordinator
// program as a process of its own, and the figures that can be had of both.
// Threading: one thread, but for Database(), which is safe from any.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_SERVER_UNDER_TEST_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_SERVER_UNDER_TEST_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/child_process.h"
#include "common/file.h"
#include "common/status.h"
#include "coordinator/store/postgres_database.h"
#include "tests/support/postgres_server.h"

namespace warpsmith::bench {

struct TableFigures {
  std::string name;
  int64_t live = 0, dead = 0, inserted = 0, updated = 0, hot = 0, deleted = 0, table_bytes = 0, index_bytes = 0;
};

// At one moment. Counters grow; differences are what counts.
struct Figures {
  double coordinator_cpu_seconds = 0;
  double database_cpu_seconds = 0;
  double load_cpu_seconds = 0;
  double coordinator_megabytes = 0;
  double coordinator_peak_megabytes = 0;
  int64_t wal_bytes = 0;
  int64_t commits = 0;
  std::vector<TableFigures> tables;
};

class ServerUnderTest {
 public:
  // `gateway`: an address. The database is empty until the coordinator is started. `statements`: counts them.
  // `postgres_defaults`: without the settings that deploy/ gives PostgreSQL.
  static absl::StatusOr<std::unique_ptr<ServerUnderTest>> Start(const std::string& gateway, bool statements,
                                                                bool postgres_defaults);
  // The machine's. PostgreSQL takes them for its buffers where there are enough; without them each of its processes
  // faults in every page.
  static int64_t ReservedHugePages();
  ~ServerUnderTest();

  absl::Status StartCoordinator();
  void StopCoordinator();
  std::string address() const;
  store::Database& database() { return *database_; }

  // For connections made from now on: start the coordinator anew.
  void SetSynchronousCommit(bool on);
  // VACUUM ANALYZE and a checkpoint, so that measurements begin alike.
  void Settle();
  // "on", "off" and so on, of the server as it runs.
  std::string Setting(const std::string& name);
  // The statements that took most of PostgreSQL's time since the last call, one a line; only where they are counted.
  std::string TakeStatements();
  absl::StatusOr<Figures> Read();
  absl::StatusOr<store::ResultSet> Execute(const std::string& statement, const store::Parameters& parameters);

 private:
  explicit ServerUnderTest(TemporaryDirectory folder) : folder_(std::move(folder)) {}

  TemporaryDirectory folder_;
  std::string gateway_;
  std::unique_ptr<testing::PostgresServer> postgres_;
  std::string conninfo_;
  std::unique_ptr<store::PostgresDatabase> database_;
  std::unique_ptr<ChildProcess> coordinator_;
  int port_ = 0;
};

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_SERVER_UNDER_TEST_H_
