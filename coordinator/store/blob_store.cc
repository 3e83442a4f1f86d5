#include "coordinator/store/blob_store.h"

#include <fmt/format.h>

#include "common/hash.h"

namespace warpsmith::store {

absl::StatusOr<std::string> PutBlob(Transaction& transaction, std::string_view data, size_t max_bytes,
                                    const std::string& expected) {
  if (data.size() > max_bytes) {
    return InvalidArgument(
        fmt::format("{} bytes are more than the {} that are kept of one file", data.size(), max_bytes));
  }
  std::string hash = Sha256Hex(data);
  if (!expected.empty() && expected != hash) {
    return InvalidArgument(
        fmt::format("the content's SHA-256 is {}, not {} as announced; send it again", hash, expected));
  }
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("blob_put", {hash, static_cast<int64_t>(data.size()), Bytes{data}}).status());
  return hash;
}

absl::StatusOr<std::string> GetBlob(Transaction& transaction, const std::string& sha256) {
  WARPSMITH_ASSIGN_OR_RETURN(const ResultSet rows, transaction.Execute("blob_get", {sha256}));
  if (rows.empty()) return NotFound(fmt::format("there is no blob {}", sha256));
  std::string data = rows[0].Blob("data");
  if (Sha256Hex(data) != sha256) return Internal(fmt::format("blob {} is damaged in the database", sha256));
  return data;
}

}  // namespace warpsmith::store
