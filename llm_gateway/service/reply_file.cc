#include "llm_gateway/service/reply_file.h"

#include <fmt/format.h>

#include "common/file.h"
#include "common/hash.h"

namespace warpsmith::gateway {
namespace {

constexpr char kMagic[] = "warpsmith-reply 1 ";

std::string HeaderOf(const std::string& bytes) {
  return fmt::format("{}{} {}\n", kMagic, bytes.size(), Sha256Hex(bytes));
}

}  // namespace

absl::Status WriteReplyFile(const std::filesystem::path& path, const std::string& bytes) {
  return WriteFileAtomically(path, HeaderOf(bytes) + bytes);
}

absl::StatusOr<std::string> ReadReplyFile(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return NotFound("no such reply");
  WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  const size_t end = text.find('\n');
  const std::string bytes = end == std::string::npos ? "" : text.substr(end + 1);
  if (end == std::string::npos || text.compare(0, end + 1, HeaderOf(bytes)) != 0) {
    return MakeStatus(absl::StatusCode::kDataLoss, path.string() + " is torn or is no reply of ours");
  }
  return bytes;
}

}  // namespace warpsmith::gateway
