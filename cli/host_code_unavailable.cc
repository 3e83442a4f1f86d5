#include "cli/import_python.h"
#include "cli/local_host_code.h"

namespace warpsmith::cli {

absl::StatusOr<std::unique_ptr<HostCodeSession>> OpenHostCodeSession(const HostCodeSettings&) {
  return BuiltWithoutHostCode();
}

}  // namespace warpsmith::cli
