// Content by its SHA-256: sources, logs.
// Threading: pure functions over a transaction. Errors: InvalidArgument where content and hash differ, or it is too
// large; NotFound names the hash.
#ifndef WARPSMITH_COORDINATOR_STORE_BLOB_STORE_H_
#define WARPSMITH_COORDINATOR_STORE_BLOB_STORE_H_

#include <string>
#include <string_view>

#include "coordinator/store/database.h"

namespace warpsmith::store {

inline constexpr size_t kMaxSourceBytes = 1u << 20;
inline constexpr size_t kMaxBlobBytes = 16u << 20;

// Stores it once and returns its hash. `expected` may be empty.
absl::StatusOr<std::string> PutBlob(Transaction& transaction, std::string_view data, size_t max_bytes,
                                    const std::string& expected = {});
absl::StatusOr<std::string> GetBlob(Transaction& transaction, const std::string& sha256);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_BLOB_STORE_H_
