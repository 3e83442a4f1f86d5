// Whole files, written atomically; temporary folders that go away with their owner; locating our own programs.
// Threading: safe from any thread on different paths.
#ifndef WARPSMITH_COMMON_FILE_H_
#define WARPSMITH_COMMON_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith {

// Errors name the path. ResourceExhausted above `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path, size_t max_bytes = 64u << 20);

// To a temporary name in the same folder, fsync, rename.
absl::Status WriteFileAtomically(const std::filesystem::path& path, std::string_view data);

// A folder of its own, mode 0700, removed with everything in it.
class TemporaryDirectory {
 public:
  // `parent` empty: TMPDIR or /tmp.
  static absl::StatusOr<TemporaryDirectory> Create(std::string_view prefix, const std::filesystem::path& parent = {});
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// What a folder holds, sorted; nothing where it cannot be read.
std::vector<std::filesystem::path> EntriesOf(const std::filesystem::path& folder);

// Where the running program lies; empty where the kernel does not tell.
std::filesystem::path ProgramFolder();

// A sibling program of the running one (build/dev/bin/warpsmith-executor), or WARPSMITH_BIN_DIR's.
absl::StatusOr<std::filesystem::path> FindProgram(std::string_view name);

// A data folder that ships with warpsmith ("llm_gateway/catalog"): WARPSMITH_SHARE_DIR, then ../share/warpsmith beside
// the program's folder, then the source tree that it was built from.
absl::StatusOr<std::filesystem::path> FindShare(std::string_view relative);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_FILE_H_
