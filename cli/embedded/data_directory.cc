#include "cli/embedded/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "common/hash.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

// sockaddr_un takes 107 bytes; the longest name below the folder is PostgreSQL's "database/.s.PGSQL.5432.lock".
constexpr size_t kLongestSocketFolder = 72;

absl::Status MakeFolder(const fs::path& folder, mode_t mode) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (!error && mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) error.assign(errno, std::generic_category());
  if (!error && !fs::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error && access(folder.c_str(), W_OK | X_OK) != 0) error.assign(errno, std::generic_category());
  if (!error) return absl::OkStatus();
  return FailedPrecondition(fmt::format("{}: cannot be used as data directory: {}; give another one with --data-dir",
                                        folder.string(), error.message()));
}

}  // namespace

absl::StatusOr<fs::path> DataDirectoryPath(const std::string& given) {
  std::error_code error;
  if (!given.empty()) {
    fs::path path = fs::absolute(given, error).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    return path;
  }
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && xdg[0] == '/') {
    return fs::path(xdg) / "warpsmith";
  }
  if (geteuid() == 0) return fs::path("/var/lib/warpsmith");
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return fs::path(home) / ".local/share/warpsmith";
  }
  return FailedPrecondition("there is no HOME to keep data under; give a folder with --data-dir");
}

DataDirectory::DataDirectory(fs::path path) : path_(std::move(path)), sockets_(path_ / "run") {
  if (sockets_.string().size() > kLongestSocketFolder) {
    sockets_ = fmt::format("/tmp/warpsmith-{}-{}", geteuid(), Sha256Hex(path_.string()).substr(0, 12));
  }
}

absl::Status DataDirectory::Prepare() const {
  for (const fs::path& folder : {path_, run_folder(), path_ / "logs", kernels(), sockets_}) {
    WARPSMITH_RETURN_IF_ERROR(MakeFolder(folder, 0700));
  }
  // Under /tmp anyone can make the folder first.
  struct stat information {};
  if (lstat(sockets_.c_str(), &information) != 0 || !S_ISDIR(information.st_mode) || information.st_uid != geteuid() ||
      (information.st_mode & 022) != 0) {
    return FailedPrecondition(
        fmt::format("{}: this folder for sockets is not ours alone; remove it, or give a --data-dir "
                    "with a path of at most {} characters",
                    sockets_.string(), kLongestSocketFolder - 4));
  }
  return absl::OkStatus();
}

absl::StatusOr<DataDirectoryLock> DataDirectoryLock::Take(const DataDirectory& directory, const std::string& purpose) {
  const fs::path file = directory.run_folder() / "lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return FailedPrecondition(ErrnoMessage(fmt::format("cannot open {}", file.string()), errno));
  DataDirectoryLock lock(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    char holder[128] = {};
    const ssize_t size = pread(descriptor, holder, sizeof holder - 1, 0);
    return FailedPrecondition(fmt::format(
        "{} is in use by {}; wait for it, or give another folder with --data-dir", directory.path().string(),
        size > 0 ? std::string(holder, static_cast<size_t>(size)) : "another warpsmith"));
  }
  const std::string holder = fmt::format("`{}` (process {})", purpose, getpid());
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, holder.data(), holder.size(), 0) < 0) {
    return FailedPrecondition(ErrnoMessage(fmt::format("cannot write {}", file.string()), errno));
  }
  return lock;
}

DataDirectoryLock::~DataDirectoryLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

DataDirectoryLock::DataDirectoryLock(DataDirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace warpsmith::cli
