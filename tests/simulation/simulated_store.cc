#include "tests/simulation/simulated_store.h"

#include <fmt/format.h>

#include <stdexcept>

#include "common/file.h"
#include "coordinator/store/migrator.h"
#include "tests/support/postgres_server.h"

namespace warpsmith::simulation {
namespace {

constexpr int kResetsBetweenVacuums = 50;

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) throw std::runtime_error(Message(value.status()));
  return std::move(value).value();
}

std::string TestFile(const char* name) {
  return Must(ReadFile(std::filesystem::path(WARPSMITH_SOURCE_DIR) / "tests/simulation" / name));
}

// The product's statements, those of the simulation, and the broken ones in place of theirs.
store::SqlLibrary MakeLibrary(const std::map<std::string, std::string>& broken) {
  std::map<std::string, std::string, std::less<>> statements = Must(store::SqlLibrary::LoadShipped()).statements();
  for (const auto& [name, text] : broken) {
    if (!statements.contains(name)) throw std::runtime_error("there is no statement " + name + " to break");
    statements[name] = text;
  }
  std::string all = TestFile("statements.sql");
  for (const auto& [name, text] : statements) all += fmt::format("-- name: {}\n{}\n", name, text);
  const TemporaryDirectory folder = Must(TemporaryDirectory::Create("warpsmith-simulation-"));
  const absl::Status written = WriteFileAtomically(folder.path() / "all.sql", all);
  if (!written.ok()) throw std::runtime_error(Message(written));
  return Must(store::SqlLibrary::Load(folder.path()));
}

}  // namespace

SimulatedStore::SimulatedStore(const std::map<std::string, std::string>& broken) {
  testing::PostgresServer& server = testing::PostgresServer::Shared();
  // Autovacuum comes when it likes, and a simulation must repeat.
  server.Query(server.Conninfo("postgres"), "ALTER SYSTEM SET autovacuum = off");
  server.Query(server.Conninfo("postgres"), "SELECT pg_reload_conf()");
  conninfo_ = server.CreateDatabase();
  server.Query(conninfo_, TestFile("virtual_time.sql"));
  // Plans that do not depend on how many rows other simulations left behind, and none of the costs of safety.
  const std::string session = conninfo_ +
                              " options='-c synchronous_commit=off -c jit=off -c plan_cache_mode=force_generic_plan "
                              "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'";
  Must(store::Migrate(session, Must(store::LoadShippedMigrations())));
  server.Query(conninfo_, TestFile("invariants.sql"));
  postgres_ = std::make_unique<store::PostgresDatabase>(session, MakeLibrary(broken), 1, RealClock());
}

absl::Status SimulatedStore::SetNow(store::Transaction& transaction, int64_t wall_us) {
  return transaction.Execute("simulation_now", {std::to_string(wall_us)}).status();
}

void SimulatedStore::Reset() {
  Rows("simulation_reset");
  if (++resets_ % kResetsBetweenVacuums == 0) testing::PostgresServer::Shared().Query(conninfo_, "VACUUM");
}

int64_t SimulatedStore::BeginTerm(const std::string& holder) {
  postgres_->SetTerm(0);
  int64_t term = 0;
  absl::Status status = postgres_->Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("simulation_lock_elections", {}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("simulation_begin_term", {holder}));
    term = rows[0].Int("term");
    return absl::OkStatus();
  });
  if (!status.ok()) throw std::runtime_error(Message(status));
  return term;
}

store::ResultSet SimulatedStore::Rows(const std::string& statement, const store::Parameters& parameters) {
  postgres_->SetTerm(0);
  store::ResultSet rows;
  absl::Status status = postgres_->Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(rows, transaction.Execute(statement, parameters));
    return absl::OkStatus();
  });
  if (!status.ok()) throw std::runtime_error(Message(status));
  return rows;
}

}  // namespace warpsmith::simulation
