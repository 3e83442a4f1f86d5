// One coordinator at a time: an advisory lock held by a connection of its own, and a term that grows at each election
// and that every write transaction checks, so that a coordinator that lost its lock unnoticed cannot write.
// Threading: Elect and the destructor from one thread; the watch runs on its own thread and calls `lost` there, once.
// The connection must reach PostgreSQL directly (no transaction-mode pooler).
#ifndef WARPSMITH_COORDINATOR_STORE_LEADERSHIP_H_
#define WARPSMITH_COORDINATOR_STORE_LEADERSHIP_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith::store {

struct PostgresConnection;

// Holds the lock before anything is written, so that the schema is not changed under a running coordinator.
class Leadership {
 public:
  // Tries for `patience`; FailedPrecondition names the coordinator that holds the lock, and the remedy. Cancelled where
  // `give_up`, asked between two tries, says so.
  static absl::StatusOr<std::unique_ptr<Leadership>> Acquire(const std::string& conninfo, const std::string& holder,
                                                             Duration patience,
                                                             const std::function<bool()>& give_up = {});
  ~Leadership();

  // After the migrations: begins a new term and returns it. From then on the connection is watched; when it is lost it
  // is made anew and the lock taken again. `lost` is called when another coordinator leads.
  absl::StatusOr<int64_t> BeginTerm(std::function<void(const std::string&)> lost);

 private:
  Leadership(std::string conninfo, std::string holder, std::unique_ptr<PostgresConnection> connection);
  void Watch();
  bool CheckOnce();  // false: another coordinator leads

  const std::string conninfo_;
  const std::string holder_;
  std::unique_ptr<PostgresConnection> connection_;
  int64_t term_ = 0;
  std::function<void(const std::string&)> lost_;
  std::string why_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread watcher_;
};

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_LEADERSHIP_H_
