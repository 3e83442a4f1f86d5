#include "coordinator/store/postgres_connection.h"

#include <fmt/format.h>

#include <cmath>

namespace warpsmith::store {
namespace {

std::string OneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

absl::Status FromSqlState(const std::string& state, const std::string& text) {
  const std::string shown = fmt::format("{} (SQLSTATE {})", OneLine(text), state);
  if (state == "WS001") return FailedPrecondition(fmt::format("this coordinator no longer leads: {}", OneLine(text)));
  if (state == "53100") {
    return ResourceExhausted(
        fmt::format("the database's disk is full: {}. Free space on the database's file system, or raise its quota; "
                    "what was not stored is tried again.",
                    shown));
  }
  if (state == "53200") return ResourceExhausted(fmt::format("the database is out of memory: {}", shown));
  if (state == "53300") {
    return Unavailable(fmt::format(
        "the database takes no more connections: {}. Raise max_connections or lower --database-connections.", shown));
  }
  if (state == "42501" || state == "25006") {
    return FailedPrecondition(fmt::format(
        "the database refuses to be written: {}. Connect as the owner of the database, to its primary.", shown));
  }
  if (state == "23505") return MakeStatus(absl::StatusCode::kAlreadyExists, shown);
  if (state == "40001" || state == "40P01") return MakeStatus(absl::StatusCode::kAborted, shown);
  if (state == "57014") return DeadlineExceeded(fmt::format("the database took too long: {}", shown));
  if (state == "55P03" || state.rfind("08", 0) == 0 || state.rfind("57P", 0) == 0) {
    return Unavailable(fmt::format("the database is not available: {}", shown));
  }
  return Internal(fmt::format("database error: {}", shown));
}

}  // namespace

absl::Status CatchDatabaseErrors(const std::function<absl::Status()>& work) {
  try {
    return work();
  } catch (const pqxx::too_many_connections& error) {
    return FromSqlState("53300", error.what());
  } catch (const pqxx::broken_connection& error) {
    return Unavailable(fmt::format("lost the database: {}", OneLine(error.what())));
  } catch (const pqxx::in_doubt_error& error) {
    return Unavailable(fmt::format("lost the database while committing: {}", OneLine(error.what())));
  } catch (const pqxx::insufficient_privilege& error) {
    // libpqxx makes some of its classes without their SQLSTATE.
    return FromSqlState("42501", error.what());
  } catch (const pqxx::statement_completion_unknown& error) {
    return Unavailable(fmt::format("lost the database: {}", OneLine(error.what())));
  } catch (const pqxx::transaction_rollback& error) {
    return FromSqlState("40001", error.what());
  } catch (const pqxx::sql_error& error) {
    return FromSqlState(error.sqlstate(), error.what());
  } catch (const std::exception& error) {
    return Internal(fmt::format("database adapter: {}", OneLine(error.what())));
  }
}

void DiscardPlans(PostgresConnection& connection) {
  pqxx::nontransaction session(connection.connection);
  session.exec("DISCARD PLANS");
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> OpenConnection(const std::string& conninfo,
                                                                   double statement_timeout_seconds) {
  std::unique_ptr<PostgresConnection> opened;
  absl::Status status = CatchDatabaseErrors([&]() -> absl::Status {
    opened = std::make_unique<PostgresConnection>(conninfo);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    opened->connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
    pqxx::nontransaction session(opened->connection);
    session.exec(
        "SET client_encoding = 'UTF8'; SET bytea_output = 'hex'; SET application_name = 'warpsmith-coordinator'; "
        "SET lock_timeout = '20s'; SET idle_in_transaction_session_timeout = '120s'; SET client_min_messages = "
        "'warning'; SET jit = off");  // statements are short; compiling one takes longer than running it
    session.exec(fmt::format("SET statement_timeout = {}", std::llround(statement_timeout_seconds * 1000)));
    return absl::OkStatus();
  });
  if (status.ok()) return opened;
  if (absl::IsUnavailable(status)) {
    return Unavailable(
        fmt::format("cannot reach the database: {}. Check that PostgreSQL runs there and that --database (or "
                    "WARPSMITH_DATABASE) is right.",
                    Message(status)));
  }
  return status;
}

}  // namespace warpsmith::store
