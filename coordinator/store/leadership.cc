#include "coordinator/store/leadership.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "coordinator/store/postgres_connection.h"

namespace warpsmith::store {
namespace {

constexpr Duration kCheckEvery = std::chrono::seconds(1);

absl::StatusOr<bool> TryLock(PostgresConnection& connection) {
  bool locked = false;
  absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
    pqxx::nontransaction session(connection.connection);
    locked = session.exec1("SELECT pg_try_advisory_lock(7710452, 1)")[0].as<bool>();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return locked;
}

std::string DescribeHolder(PostgresConnection& connection) {
  std::string text = "another coordinator";
  absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
    pqxx::nontransaction session(connection.connection);
    const pqxx::row row =
        session.exec1("SELECT holder, term, to_char(elected_at, 'YYYY-MM-DD HH24:MI:SS TZ') FROM leader WHERE id = 1");
    text = fmt::format("coordinator {} (term {}, since {})", row[0].as<std::string>(), row[1].as<int64_t>(),
                       row[2].as<std::string>());
    return absl::OkStatus();
  });
  // A database without the table is being set up by the holder at this moment: the general text says enough.
  if (!status.ok()) spdlog::debug("who holds the lock: {}", Message(status));
  return text;
}

}  // namespace

Leadership::Leadership(std::string conninfo, std::string holder, std::unique_ptr<PostgresConnection> connection)
    : conninfo_(std::move(conninfo)), holder_(std::move(holder)), connection_(std::move(connection)) {}

absl::StatusOr<std::unique_ptr<Leadership>> Leadership::Acquire(const std::string& conninfo, const std::string& holder,
                                                                Duration patience,
                                                                const std::function<bool()>& give_up) {
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection, OpenConnection(conninfo));
  const TimePoint until = RealClock().Now() + patience;
  bool told = false;
  while (true) {
    if (give_up && give_up()) return MakeStatus(absl::StatusCode::kCancelled, "asked to stop while another one led");
    WARPSMITH_ASSIGN_OR_RETURN(const bool locked, TryLock(*connection));
    if (locked) break;
    if (RealClock().Now() >= until) {
      return FailedPrecondition(
          fmt::format("{} already runs on this database, and there can be one only. Stop it first, or give this one "
                      "another database with --database.",
                      DescribeHolder(*connection)));
    }
    if (!told) spdlog::info("{} leads; waiting for its end", DescribeHolder(*connection));
    told = true;
    RealClock().SleepFor(std::chrono::milliseconds(50));
  }
  return std::unique_ptr<Leadership>(new Leadership(conninfo, holder, std::move(connection)));
}

Leadership::~Leadership() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

absl::StatusOr<int64_t> Leadership::BeginTerm(std::function<void(const std::string&)> lost) {
  lost_ = std::move(lost);
  absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
    pqxx::work work(connection_->connection);
    // Waits for the older term's last write transactions, and keeps new ones out until the term has changed.
    work.exec("SELECT pg_advisory_xact_lock(7710452, 2)");
    term_ = work.exec_params1(
                    "UPDATE leader SET term = term + 1, holder = $1, elected_at = now() WHERE id = 1 "
                    "RETURNING term",
                    holder_)[0]
                .as<int64_t>();
    work.commit();
    return absl::OkStatus();
  });
  if (!status.ok()) return Annotate(status, "cannot begin a term");
  watcher_ = std::thread([this] { Watch(); });
  return term_;
}

bool Leadership::CheckOnce() {
  if (connection_ != nullptr) {
    absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
      pqxx::nontransaction session(connection_->connection);
      session.exec("SELECT 1");
      return absl::OkStatus();
    });
    if (status.ok()) return true;
    spdlog::warn("lost the connection that holds leadership: {}", Message(status));
    connection_.reset();
  }
  auto opened = OpenConnection(conninfo_);
  if (!opened.ok()) return true;  // no database: nobody leads; try again
  auto locked = TryLock(**opened);
  if (!locked.ok()) return true;
  int64_t term = 0;
  absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
    pqxx::nontransaction session((*opened)->connection);
    term = session.exec1("SELECT term FROM leader WHERE id = 1")[0].as<int64_t>();
    return absl::OkStatus();
  });
  if (!status.ok()) return true;
  if (term != term_) {
    why_ = fmt::format("{} leads since this one lost the database", DescribeHolder(**opened));
    return false;
  }
  // Without the lock but with the term unchanged, the server still holds our own dead session: ask again later.
  if (*locked) {
    spdlog::info("leadership confirmed again, term {}", term_);
    connection_ = std::move(opened).value();
  }
  return true;
}

void Leadership::Watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kCheckEvery, [this] { return stopping_; })) {
    lock.unlock();
    const bool leads = CheckOnce();
    if (!leads) {
      lost_(why_);
      return;
    }
    lock.lock();
  }
}

}  // namespace warpsmith::store
