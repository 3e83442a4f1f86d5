// Brings a database to this coordinator's schema: migrations/NNNN_name.sql in order, each in one transaction, all under
// an advisory lock, so that two at once do the work once. Threading: any. Errors: FailedPrecondition where the schema
// is newer than ours or an applied migration was changed.
#ifndef WARPSMITH_COORDINATOR_STORE_MIGRATOR_H_
#define WARPSMITH_COORDINATOR_STORE_MIGRATOR_H_

#include <filesystem>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith::store {

struct Migration {
  int version = 0;
  std::string name;
  std::string sql;
};

absl::StatusOr<std::vector<Migration>> LoadMigrations(const std::filesystem::path& folder);
absl::StatusOr<std::vector<Migration>> LoadShippedMigrations();

// Returns the schema's version.
absl::StatusOr<int> Migrate(const std::string& conninfo, const std::vector<Migration>& migrations);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_MIGRATOR_H_
