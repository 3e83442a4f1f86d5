#include "coordinator/store/postgres_database.h"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/store/postgres_connection.h"

namespace warpsmith::store {
namespace {

constexpr Duration kFirstDelay = std::chrono::milliseconds(100);
constexpr Duration kLastDelay = std::chrono::seconds(5);
constexpr int kDeadlockTries = 5;
constexpr Duration kPlansLastFirst = std::chrono::seconds(1);
constexpr Duration kPlansLastMost = std::chrono::seconds(15);

void RenewOldPlans(PostgresConnection& connection, TimePoint now) {
  if (now < connection.plans_until) return;
  if (connection.plans_last > Duration::zero()) DiscardPlans(connection);
  connection.plans_last = std::clamp(connection.plans_last * 2, kPlansLastFirst, kPlansLastMost);
  connection.plans_until = now + connection.plans_last;
}

class PostgresTransaction final : public Transaction {
 public:
  PostgresTransaction(PostgresConnection& connection, pqxx::transaction_base& work, const SqlLibrary& library)
      : connection_(connection), work_(work), library_(library) {}

  absl::StatusOr<ResultSet> Execute(std::string_view statement, const Parameters& parameters) override {
    const auto found = library_.statements().find(statement);
    if (found == library_.statements().end()) return Internal(fmt::format("there is no statement {}", statement));
    ResultSet set;
    absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
      if (!connection_.prepared.contains(statement)) {
        connection_.connection.prepare(found->first, found->second);
        connection_.prepared.insert(found->first);
      }
      std::vector<const char*> texts;
      texts.reserve(parameters.size());
      for (const Parameter& parameter : parameters) texts.push_back(parameter.text());
      const pqxx::result result = work_.exec_prepared(found->first, pqxx::prepare::make_dynamic_params(texts));
      for (pqxx::row::size_type column = 0; column < result.columns(); ++column) {
        set.columns.emplace_back(result.column_name(column));
      }
      set.rows.reserve(result.size());
      for (const auto& row : result) {
        auto& values = set.rows.emplace_back();
        values.reserve(set.columns.size());
        for (const auto& field : row) {
          if (field.is_null()) {
            values.emplace_back(std::nullopt);
          } else {
            values.emplace_back(std::string(field.c_str(), field.size()));
          }
        }
      }
      return absl::OkStatus();
    });
    if (!status.ok()) return Annotate(status, fmt::format("statement {}", statement));
    return set;
  }

 private:
  PostgresConnection& connection_;
  pqxx::transaction_base& work_;
  const SqlLibrary& library_;
};

}  // namespace

PostgresDatabase::PostgresDatabase(std::string conninfo, SqlLibrary library, int connections, Clock& clock,
                                   double statement_timeout_seconds)
    : conninfo_(std::move(conninfo)),
      library_(std::move(library)),
      limit_(std::max(1, connections)),
      clock_(clock),
      statement_timeout_seconds_(statement_timeout_seconds) {}

PostgresDatabase::~PostgresDatabase() = default;

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresDatabase::Acquire() {
  {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return !idle_.empty() || open_ < limit_; });
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    if (clock_.Now() < not_before_) return Unavailable(last_error_);
    ++open_;
  }
  auto opened = OpenConnection(conninfo_, statement_timeout_seconds_);
  std::lock_guard lock(mutex_);
  if (opened.ok()) {
    delay_ = Duration::zero();
    return opened;
  }
  --open_;
  free_.notify_one();
  delay_ = std::clamp(delay_ * 2, kFirstDelay, kLastDelay);
  not_before_ = clock_.Now() + delay_;
  last_error_ = Message(opened.status());
  return opened.status();
}

void PostgresDatabase::Release(std::unique_ptr<PostgresConnection> connection) {
  std::vector<std::unique_ptr<PostgresConnection>> stale;
  std::lock_guard lock(mutex_);
  if (connection->connection.is_open()) {
    idle_.push_back(std::move(connection));
  } else {
    // What broke one connection most likely broke the idle ones too.
    --open_;
    open_ -= static_cast<int>(idle_.size());
    stale.swap(idle_);
  }
  free_.notify_all();
}

absl::Status PostgresDatabase::RunOnce(const Work& work, bool write, bool* reused) {
  auto acquired = Acquire();
  if (!acquired.ok()) return acquired.status();
  std::unique_ptr<PostgresConnection> connection = std::move(acquired).value();
  *reused = !connection->prepared.empty();
  const int64_t term = term_;
  const auto run = [&](auto& transaction) -> absl::Status {
    PostgresTransaction handle(*connection, transaction, library_);
    if (write && term != 0) {
      WARPSMITH_RETURN_IF_ERROR(handle.Execute("check_term", {term}).status());
    }
    WARPSMITH_RETURN_IF_ERROR(work(handle));
    transaction.commit();
    return absl::OkStatus();
  };
  absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
    if (renew_plans_) RenewOldPlans(*connection, clock_.Now());
    if (write) {
      pqxx::work transaction(connection->connection);
      return run(transaction);
    }
    pqxx::read_transaction transaction(connection->connection);
    return run(transaction);
  });
  Release(std::move(connection));
  return status;
}

absl::Status PostgresDatabase::Run(const Work& work, bool write) {
  absl::Status status;
  for (int attempt = 0; attempt < kDeadlockTries; ++attempt) {
    bool reused = false;
    status = RunOnce(work, write, &reused);
    // A pooled connection may have died in its sleep. A read is safe to repeat; a write may have been committed.
    if (absl::IsAborted(status) || (!write && reused && absl::IsUnavailable(status))) continue;
    return status;
  }
  return status;
}

absl::Status PostgresDatabase::Write(const Work& work) { return Run(work, true); }
absl::Status PostgresDatabase::Read(const Work& work) { return Run(work, false); }

}  // namespace warpsmith::store
