#include "gpu_worker/device/cuda/gpu_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>

namespace warpsmith::cuda {
namespace fs = std::filesystem;
namespace {

constexpr char kSystemFolder[] = "/run/warpsmith";

// Ours, a real folder, and writable by nobody else: in /tmp anybody could have made it first.
absl::StatusOr<int> OpenFolder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return FailedPrecondition(ErrnoMessage("cannot make the lock folder " + folder.string(), errno));
  }
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    return FailedPrecondition(ErrnoMessage("cannot open the lock folder " + folder.string(), errno));
  }
  struct stat information {};
  if (fstat(descriptor, &information) != 0 || information.st_uid != geteuid() || (information.st_mode & 022) != 0) {
    close(descriptor);
    return FailedPrecondition(
        fmt::format("the lock folder {} belongs to another user or is writable by others; remove it", folder.string()));
  }
  return descriptor;
}

std::string HolderOf(int file) {
  char text[64] = "";
  const ssize_t read = pread(file, text, sizeof text - 1, 0);
  std::string pid(text, std::max<ssize_t>(read, 0));
  pid = pid.substr(0, pid.find('\n'));
  const bool number =
      !pid.empty() && std::all_of(pid.begin(), pid.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return number ? "process " + pid : "another process";
}

}  // namespace

fs::path GpuLock::DefaultFolder() {
  if (absl::StatusOr<int> folder = OpenFolder(kSystemFolder); folder.ok()) {
    close(*folder);
    return kSystemFolder;
  }
  return fmt::format("/tmp/warpsmith-locks-{}", geteuid());
}

absl::StatusOr<GpuLock> GpuLock::Acquire(const std::string& gpu_uuid, Duration deadline, const fs::path& folder) {
  const bool plain = !gpu_uuid.empty() && std::all_of(gpu_uuid.begin(), gpu_uuid.end(),
                                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
  if (!plain) return InvalidArgument(fmt::format("\"{}\" is no GPU's UUID", gpu_uuid));
  WARPSMITH_ASSIGN_OR_RETURN(const int parent, OpenFolder(folder));
  const int file = openat(parent, (gpu_uuid + ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  const int error = errno;
  close(parent);
  if (file < 0) return FailedPrecondition(ErrnoMessage("cannot open the lock in " + folder.string(), error));
  GpuLock lock(file);
  const TimePoint end = RealClock().Now() + deadline;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return FailedPrecondition(ErrnoMessage("cannot lock in " + folder.string(), errno));
    }
    if (RealClock().Now() >= end) {
      return DeadlineExceeded(fmt::format("the GPU {} is in use by {} of warpsmith; stop it, or choose another GPU",
                                          gpu_uuid, HolderOf(file)));
    }
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(file, 0) != 0 || pwrite(file, pid.data(), pid.size(), 0) < 0) {
    return FailedPrecondition(ErrnoMessage("cannot write the lock in " + folder.string(), errno));
  }
  return lock;
}

GpuLock::~GpuLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace warpsmith::cuda
