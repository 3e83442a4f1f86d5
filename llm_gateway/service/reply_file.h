// The file of one stored reply: a line that says what follows, with its length and sha256, then the reply.
// Threading: pure but for the file. Errors: NotFound where there is no file, DataLoss (kDataLoss) for one that is torn
// or of another kind.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_REPLY_FILE_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_REPLY_FILE_H_

#include <filesystem>
#include <string>

#include "common/status.h"

namespace warpsmith::gateway {

absl::Status WriteReplyFile(const std::filesystem::path& path, const std::string& bytes);
absl::StatusOr<std::string> ReadReplyFile(const std::filesystem::path& path);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_REPLY_FILE_H_
