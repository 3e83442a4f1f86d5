#include "coordinator/store/migrator.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/file.h"
#include "common/hash.h"
#include "common/version.h"
#include "coordinator/store/postgres_connection.h"

namespace warpsmith::store {

absl::StatusOr<std::vector<Migration>> LoadMigrations(const std::filesystem::path& folder) {
  std::vector<Migration> migrations;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".sql") continue;
    Migration migration;
    migration.name = entry.path().stem().string();
    migration.version = std::atoi(migration.name.c_str());
    WARPSMITH_ASSIGN_OR_RETURN(migration.sql, ReadFile(entry.path()));
    migrations.push_back(std::move(migration));
  }
  std::sort(migrations.begin(), migrations.end(),
            [](const Migration& a, const Migration& b) { return a.version < b.version; });
  for (size_t i = 0; i < migrations.size(); ++i) {
    if (migrations[i].version != static_cast<int>(i) + 1) {
      return InvalidArgument(fmt::format("{}: migrations must be numbered 0001, 0002, … without gaps; found {}",
                                         folder.string(), migrations[i].name));
    }
  }
  if (migrations.empty()) {
    return NotFound(fmt::format("{}: there are no migrations here; reinstall warpsmith", folder.string()));
  }
  return migrations;
}

absl::StatusOr<std::vector<Migration>> LoadShippedMigrations() {
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path folder, FindShare("migrations"));
  return LoadMigrations(folder);
}

absl::StatusOr<int> Migrate(const std::string& conninfo, const std::vector<Migration>& migrations) {
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection, OpenConnection(conninfo));
  const int newest = migrations.back().version;
  int version = 0;
  while (version < newest || version == 0) {
    bool behind = true;
    WARPSMITH_RETURN_IF_ERROR(CatchDatabaseErrors([&]() -> absl::Status {
      pqxx::work work(connection->connection);
      // A migration of large tables takes what it takes.
      work.exec(
          "SET LOCAL lock_timeout = '120s'; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(7710452, 3)");
      work.exec(
          "CREATE TABLE IF NOT EXISTS schema_migration (version integer PRIMARY KEY, name text NOT NULL, "
          "sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())");
      const pqxx::result applied = work.exec("SELECT version, name, sha256 FROM schema_migration ORDER BY version");
      version = 0;
      for (const auto& row : applied) {
        version = row[0].as<int>();
        if (version > newest) {
          return FailedPrecondition(
              fmt::format("the database's schema is version {} ({}), newer than version {}, the last that warpsmith {} "
                          "knows. Run the newer warpsmith that made it, or give --database another database.",
                          version, row[1].as<std::string>(), newest, kVersion));
        }
        const Migration& ours = migrations[static_cast<size_t>(version) - 1];
        if (row[2].as<std::string>() != Sha256Hex(ours.sql)) {
          return FailedPrecondition(
              fmt::format("migration {} was changed after it had been applied to this database. Run the warpsmith that "
                          "applied it, or give --database another database.",
                          ours.name));
        }
      }
      if (version == newest) {
        behind = false;
        work.commit();
        return absl::OkStatus();
      }
      const Migration& next = migrations[static_cast<size_t>(version)];
      work.exec(next.sql);
      work.exec_params("INSERT INTO schema_migration (version, name, sha256) VALUES ($1, $2, $3)", next.version,
                       next.name, Sha256Hex(next.sql));
      work.commit();
      version = next.version;
      return absl::OkStatus();
    }));
    if (!behind) break;
  }
  return version;
}

}  // namespace warpsmith::store
