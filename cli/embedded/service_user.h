// The user that PostgreSQL runs as. It refuses to run as root, so root hands it to an unprivileged user:
// WARPSMITH_POSTGRES_USER, else postgres, else nobody. Everyone else runs it as themselves. Threading: one thread.
// Errors: name the user or the folder in the way, and the remedy.
#ifndef WARPSMITH_CLI_EMBEDDED_SERVICE_USER_H_
#define WARPSMITH_CLI_EMBEDDED_SERVICE_USER_H_

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "common/child_process.h"
#include "common/status.h"

namespace warpsmith::cli {

struct ServiceUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  bool other = false;  // not the user that we are: children change to it
};

absl::StatusOr<ServiceUser> ChooseServiceUser();

// The user can enter every folder on the way to `folder`. Where only the data directory itself is closed, it is opened
// for entering (not for listing).
absl::Status MakeReachable(const std::filesystem::path& folder, const std::filesystem::path& data_directory,
                           const ServiceUser& user);

// A folder that belongs to the user and to nobody else.
absl::Status MakeOwnFolder(const std::filesystem::path& folder, const ServiceUser& user);

void RunAs(const ServiceUser& user, ChildOptions* options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EMBEDDED_SERVICE_USER_H_
