#include "common/status.h"

#include <cstring>

namespace warpsmith {

absl::Status Annotate(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  absl::Status annotated = MakeStatus(status.code(), std::string(prefix) + ": " + Message(status));
  status.ForEachPayload([&](const auto& url, const absl::Cord& payload) { annotated.SetPayload(url, payload); });
  return annotated;
}

std::string ErrnoMessage(std::string_view what, int error) {
  char text[256];
  return std::string(what) + ": " + strerror_r(error, text, sizeof text);
}

}  // namespace warpsmith
