// PostgreSQL through libpqxx: a pool of connections that never reconnect behind our back.
// Threading: safe from any thread; at most `connections` transactions run at once, others wait.
// A lost connection is dropped and a new one opened by the next caller, not more often than a growing delay allows
// (0.1 s to 5 s); until then callers get Unavailable at once.
#ifndef WARPSMITH_COORDINATOR_STORE_POSTGRES_DATABASE_H_
#define WARPSMITH_COORDINATOR_STORE_POSTGRES_DATABASE_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/store/database.h"
#include "coordinator/store/sql_library.h"

namespace warpsmith::store {

struct PostgresConnection;  // a libpqxx connection, in postgres_connection.h

class PostgresDatabase final : public Database {
 public:
  // A statement that runs longer than its timeout is ended by the server.
  PostgresDatabase(std::string conninfo, SqlLibrary library, int connections, Clock& clock,
                   double statement_timeout_seconds = 60);
  ~PostgresDatabase() override;

  absl::Status Write(const Work& work) override;
  // The server refuses to be written in it: only Write checks the term.
  absl::Status Read(const Work& work) override;

  // From now on each connection's plans are made anew after a second, then after two, and so on up to every 15 seconds.
  // The server keeps a plan until the table has been analysed, and one that was made for an empty table reads all of a
  // large one. Before the first transaction.
  void RenewPlans() { renew_plans_ = true; }

  // The term that each Write checks; 0 (at the start): none.
  void SetTerm(int64_t term) { term_ = term; }
  int64_t term() const { return term_; }

 private:
  absl::StatusOr<std::unique_ptr<PostgresConnection>> Acquire();
  void Release(std::unique_ptr<PostgresConnection> connection);
  absl::Status Run(const Work& work, bool write);
  absl::Status RunOnce(const Work& work, bool write, bool* reused);

  const std::string conninfo_;
  const SqlLibrary library_;
  const int limit_;
  Clock& clock_;
  const double statement_timeout_seconds_;
  bool renew_plans_ = false;
  std::atomic<int64_t> term_{0};

  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_;  // guarded by mutex_
  int open_ = 0;                                           // guarded by mutex_
  Duration delay_{};                                       // guarded by mutex_
  TimePoint not_before_{};                                 // guarded by mutex_
  std::string last_error_;                                 // guarded by mutex_
};

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_POSTGRES_DATABASE_H_
