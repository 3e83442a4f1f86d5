// The named statements of coordinator/store/sql: each file holds sections that open with "-- name: the_name".
// Threading: immutable once loaded. Errors: NotFound or InvalidArgument naming the file.
#ifndef WARPSMITH_COORDINATOR_STORE_SQL_LIBRARY_H_
#define WARPSMITH_COORDINATOR_STORE_SQL_LIBRARY_H_

#include <filesystem>
#include <map>
#include <string>

#include "common/status.h"

namespace warpsmith::store {

class SqlLibrary {
 public:
  static absl::StatusOr<SqlLibrary> Load(const std::filesystem::path& folder);
  // From where warpsmith's own files lie.
  static absl::StatusOr<SqlLibrary> LoadShipped();

  const std::map<std::string, std::string, std::less<>>& statements() const { return statements_; }

 private:
  std::map<std::string, std::string, std::less<>> statements_;
};

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_SQL_LIBRARY_H_
