// Errors across warpsmith's boundaries are absl::Status. Debian's Abseil has a string_view of its own, so this header
// is the one place that converts; no other header of ours mentions absl::string_view.
// Threading: all functions are pure.
#ifndef WARPSMITH_COMMON_STATUS_H_
#define WARPSMITH_COMMON_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace warpsmith {

inline absl::Status MakeStatus(absl::StatusCode code, std::string_view message) {
  return absl::Status(code, {message.data(), message.size()});
}
inline absl::Status InvalidArgument(std::string_view message) {
  return MakeStatus(absl::StatusCode::kInvalidArgument, message);
}
inline absl::Status NotFound(std::string_view message) { return MakeStatus(absl::StatusCode::kNotFound, message); }
inline absl::Status Internal(std::string_view message) { return MakeStatus(absl::StatusCode::kInternal, message); }
inline absl::Status Unavailable(std::string_view message) {
  return MakeStatus(absl::StatusCode::kUnavailable, message);
}
inline absl::Status FailedPrecondition(std::string_view message) {
  return MakeStatus(absl::StatusCode::kFailedPrecondition, message);
}
inline absl::Status DeadlineExceeded(std::string_view message) {
  return MakeStatus(absl::StatusCode::kDeadlineExceeded, message);
}
inline absl::Status ResourceExhausted(std::string_view message) {
  return MakeStatus(absl::StatusCode::kResourceExhausted, message);
}
inline absl::Status Cancelled(std::string_view message) { return MakeStatus(absl::StatusCode::kCancelled, message); }

// The status's message as a standard string.
inline std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// The same code with `prefix` and ": " before the message.
absl::Status Annotate(const absl::Status& status, std::string_view prefix);

// errno's text, e.g. ErrnoMessage("open /x", ENOENT) == "open /x: No such file or directory".
std::string ErrnoMessage(std::string_view what, int error);

}  // namespace warpsmith

#define WARPSMITH_CONCAT_INNER(a, b) a##b
#define WARPSMITH_CONCAT(a, b) WARPSMITH_CONCAT_INNER(a, b)

#define WARPSMITH_RETURN_IF_ERROR(expression)                                                          \
  do {                                                                                                 \
    if (absl::Status warpsmith_status = (expression); !warpsmith_status.ok()) return warpsmith_status; \
  } while (false)

#define WARPSMITH_ASSIGN_OR_RETURN_INNER(temporary, target, expression) \
  auto temporary = (expression);                                        \
  if (!temporary.ok()) return temporary.status();                       \
  target = std::move(temporary).value()
#define WARPSMITH_ASSIGN_OR_RETURN(target, expression) \
  WARPSMITH_ASSIGN_OR_RETURN_INNER(WARPSMITH_CONCAT(warpsmith_or_, __LINE__), target, expression)

#endif  // WARPSMITH_COMMON_STATUS_H_
