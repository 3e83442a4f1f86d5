#include "common/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "common/hash.h"

namespace warpsmith {
namespace fs = std::filesystem;
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

absl::Status FromErrno(std::string_view what, const fs::path& path, int error) {
  std::string message = ErrnoMessage(fmt::format("{} {}", what, path.string()), error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(message);
    case ENOSPC:
    case EDQUOT:
      return ResourceExhausted(message);
    default:
      return FailedPrecondition(message);
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const fs::path& path, size_t max_bytes) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FromErrno("cannot open", path, errno);
  struct stat information;
  if (fstat(file.get(), &information) != 0) return FromErrno("cannot read", path, errno);
  if (S_ISDIR(information.st_mode)) return FailedPrecondition(fmt::format("{} is a folder, not a file", path.string()));
  std::string data;
  char chunk[65536];
  for (;;) {
    ssize_t n = read(file.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("cannot read", path, errno);
    if (n == 0) return data;
    data.append(chunk, n);
    if (data.size() > max_bytes) {
      return ResourceExhausted(fmt::format("{} is larger than the limit of {} bytes", path.string(), max_bytes));
    }
  }
}

absl::Status WriteFileAtomically(const fs::path& path, std::string_view data) {
  fs::path temporary = path;
  temporary += "." + RandomHex(6) + ".tmp";
  {
    Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.get() < 0) return FromErrno("cannot create", temporary, errno);
    for (size_t done = 0; done < data.size();) {
      ssize_t n = write(file.get(), data.data() + done, data.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        int error = errno;
        unlink(temporary.c_str());
        return FromErrno("cannot write", path, error);
      }
      done += n;
    }
    if (fsync(file.get()) != 0) {
      int error = errno;
      unlink(temporary.c_str());
      return FromErrno("cannot write", path, error);
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    int error = errno;
    unlink(temporary.c_str());
    return FromErrno("cannot write", path, error);
  }
  return absl::OkStatus();
}

absl::StatusOr<TemporaryDirectory> TemporaryDirectory::Create(std::string_view prefix, const fs::path& parent) {
  const char* from_environment = std::getenv("TMPDIR");
  fs::path base =
      !parent.empty() ? parent : fs::path(from_environment && *from_environment ? from_environment : "/tmp");
  std::string pattern = (base / fmt::format("{}-XXXXXX", prefix)).string();
  if (mkdtemp(pattern.data()) == nullptr) return FromErrno("cannot create a folder like", pattern, errno);
  return TemporaryDirectory(pattern);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path ProgramFolder() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

absl::StatusOr<fs::path> FindProgram(std::string_view name) {
  std::vector<fs::path> folders;
  if (const char* folder = std::getenv("WARPSMITH_BIN_DIR")) folders.emplace_back(folder);
  fs::path here = ProgramFolder();
  folders.push_back(here);
  folders.push_back(here.parent_path() / "bin");  // tests lie beside bin/
  for (const fs::path& folder : folders) {
    fs::path candidate = folder / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return NotFound(fmt::format("the program {} is not beside this one (in {}); set WARPSMITH_BIN_DIR to its folder",
                              name, here.string()));
}

absl::StatusOr<fs::path> FindShare(std::string_view relative) {
  std::vector<fs::path> roots;
  if (const char* folder = std::getenv("WARPSMITH_SHARE_DIR")) roots.emplace_back(folder);
  roots.push_back(ProgramFolder().parent_path() / "share" / "warpsmith");
  roots.emplace_back(WARPSMITH_SOURCE_DIR);
  for (const fs::path& root : roots) {
    std::error_code ignored;
    if (fs::exists(root / relative, ignored)) return root / relative;
  }
  return NotFound(
      fmt::format("warpsmith's data {} was not found; set WARPSMITH_SHARE_DIR to the folder that holds it", relative));
}

}  // namespace warpsmith
