// HostCodeSession of this machine: its first GPU where one can be used, else its CPU.
// Threading: as HostCodeSession. The GPU's lock is held while the session lives.
#ifndef WARPSMITH_CLI_LOCAL_HOST_CODE_H_
#define WARPSMITH_CLI_LOCAL_HOST_CODE_H_

#include <memory>

#include "cli/host_code_session.h"

namespace warpsmith::cli {

absl::StatusOr<std::unique_ptr<HostCodeSession>> OpenHostCodeSession(const HostCodeSettings& settings);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_LOCAL_HOST_CODE_H_
