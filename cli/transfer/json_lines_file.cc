#include "cli/transfer/json_lines_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace warpsmith::transfer {

absl::StatusOr<JsonLinesFile> JsonLinesFile::Create(const std::string& path) {
  const std::string partial = fmt::format("{}.{}.partial", path, ::getpid());
  FILE* file = std::fopen(partial.c_str(), "wxe");
  if (file == nullptr) return FailedPrecondition(ErrnoMessage("writing " + partial, errno));
  return JsonLinesFile(path, partial, file);
}

JsonLinesFile::JsonLinesFile(JsonLinesFile&& other) noexcept
    : path_(std::move(other.path_)), partial_(std::move(other.partial_)), file_(std::exchange(other.file_, nullptr)) {}

JsonLinesFile::~JsonLinesFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(partial_.c_str());
}

absl::Status JsonLinesFile::Add(const Json& row) {
  const std::string line = row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_) == line.size()) return absl::OkStatus();
  return FailedPrecondition(ErrnoMessage("writing " + partial_, errno));
}

absl::Status JsonLinesFile::Finish() {
  FILE* file = std::exchange(file_, nullptr);
  const bool flushed = std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!flushed || !closed || std::rename(partial_.c_str(), path_.c_str()) != 0) {
    const absl::Status status = FailedPrecondition(ErrnoMessage("writing " + path_, flushed ? errno : error));
    ::unlink(partial_.c_str());
    return status;
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::transfer
