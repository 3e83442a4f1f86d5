// What an archive's kernel must be like before anything of it is stored.
// Threading: pure. Errors: InvalidArgument names the field.
#ifndef WARPSMITH_COORDINATOR_BANK_ARCHIVE_CHECK_H_
#define WARPSMITH_COORDINATOR_BANK_ARCHIVE_CHECK_H_

#include "common/json.h"
#include "common/status.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {

inline constexpr int kMaxProvenance = 100;

// Of a line as JSON: no field spelled twice in two ways (proto's JSON takes snake_case and camelCase for one).
absl::Status CheckShape(const Json& line);

// Sizes, hashes, names that are names and no paths, finite numbers, what the bank never takes.
absl::Status CheckKernel(const v1::ArchivedKernel& kernel);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_ARCHIVE_CHECK_H_
