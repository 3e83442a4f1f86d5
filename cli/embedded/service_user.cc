#include "cli/embedded/service_user.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

bool MayEnter(const struct stat& folder, const ServiceUser& user) {
  if (folder.st_uid == user.uid) return (folder.st_mode & S_IXUSR) != 0;
  if (folder.st_gid == user.gid) return (folder.st_mode & S_IXGRP) != 0;
  return (folder.st_mode & S_IXOTH) != 0;
}

}  // namespace

absl::StatusOr<ServiceUser> ChooseServiceUser() {
  if (geteuid() != 0) {
    const passwd* me = getpwuid(geteuid());
    return ServiceUser{me != nullptr ? me->pw_name : "", geteuid(), getegid(), false};
  }
  std::vector<std::string> names = {"postgres", "nobody"};
  if (const char* chosen = std::getenv("WARPSMITH_POSTGRES_USER"); chosen != nullptr && *chosen != 0) names = {chosen};
  for (const std::string& name : names) {
    const passwd* entry = getpwnam(name.c_str());
    if (entry != nullptr && entry->pw_uid != 0) return ServiceUser{name, entry->pw_uid, entry->pw_gid, true};
  }
  return FailedPrecondition(
      fmt::format("PostgreSQL does not run as root, and there is no unprivileged user {} to run it "
                  "as; make one (adduser --system postgres) or name one in WARPSMITH_POSTGRES_USER",
                  names[0]));
}

absl::Status MakeReachable(const fs::path& folder, const fs::path& data_directory, const ServiceUser& user) {
  if (!user.other) return absl::OkStatus();
  fs::path at;
  for (const fs::path& part : folder.parent_path()) {
    at /= part;
    struct stat information {};
    if (stat(at.c_str(), &information) != 0) return FailedPrecondition(ErrnoMessage(at.string(), errno));
    if (MayEnter(information, user)) continue;
    const std::string inside = at.lexically_relative(data_directory).string();
    const bool ours = !inside.empty() && inside.rfind("..", 0) != 0;
    if (ours && chmod(at.c_str(), (information.st_mode & 07777) | S_IXOTH) == 0) continue;
    return FailedPrecondition(
        fmt::format("{}: the user {}, as whom PostgreSQL runs, may not enter this folder; give "
                    "--data-dir a place that others may enter, for example /var/lib/warpsmith",
                    at.string(), user.name));
  }
  return absl::OkStatus();
}

absl::Status MakeOwnFolder(const fs::path& folder, const ServiceUser& user) {
  if (mkdir(folder.c_str(), 0700) == 0) {
    if (!user.other || lchown(folder.c_str(), user.uid, user.gid) == 0) return absl::OkStatus();
    return FailedPrecondition(
        ErrnoMessage(fmt::format("{}: cannot be given to the user {}", folder.string(), user.name), errno));
  }
  if (errno != EEXIST) return FailedPrecondition(ErrnoMessage(folder.string(), errno));
  struct stat information {};
  if (lstat(folder.c_str(), &information) != 0) return FailedPrecondition(ErrnoMessage(folder.string(), errno));
  if (S_ISDIR(information.st_mode) && information.st_uid == user.uid) return absl::OkStatus();
  return FailedPrecondition(
      fmt::format("{}: belongs to user {}, but PostgreSQL would run as {} ({}); run as the user who "
                  "made it, or give another --data-dir",
                  folder.string(), information.st_uid, user.name, user.uid));
}

void RunAs(const ServiceUser& user, ChildOptions* options) {
  if (!user.other) return;
  options->run_as_uid = user.uid;
  options->run_as_gid = user.gid;
}

}  // namespace warpsmith::cli
