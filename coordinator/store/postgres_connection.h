// One libpqxx connection with its settings, and libpqxx's exceptions as absl::Status. Only store/*.cc include this.
// Threading: one thread at a time.
#ifndef WARPSMITH_COORDINATOR_STORE_POSTGRES_CONNECTION_H_
#define WARPSMITH_COORDINATOR_STORE_POSTGRES_CONNECTION_H_

#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <set>
#include <string>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith::store {

struct PostgresConnection {
  explicit PostgresConnection(const std::string& conninfo) : connection(conninfo) {}
  pqxx::connection connection;
  std::set<std::string, std::less<>> prepared;
  TimePoint plans_until{};  // when its plans have served long enough
  Duration plans_last{};    // how long they did last time
};

// Opens a connection that does not reconnect by itself: a session's locks and prepared statements must not vanish
// unnoticed. Unavailable with libpq's text and the remedy.
absl::StatusOr<std::unique_ptr<PostgresConnection>> OpenConnection(const std::string& conninfo,
                                                                   double statement_timeout_seconds = 60);

// The server forgets the plans of the prepared statements and makes them anew when they are next run. Outside a
// transaction; throws as libpqxx does.
void DiscardPlans(PostgresConnection& connection);

// Runs `work`, turning any exception into a status.
absl::Status CatchDatabaseErrors(const std::function<absl::Status()>& work);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_POSTGRES_CONNECTION_H_
