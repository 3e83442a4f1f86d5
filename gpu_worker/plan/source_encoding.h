// The bytes of a candidate's file: at most 1 MiB, UTF-8, no NUL, lines that end in LF or CR LF, and nothing that
// compilers split into lines differently.
// Threading: pure functions. Errors: plan errors with reason encoding that name the line.
#ifndef WARPSMITH_GPU_WORKER_PLAN_SOURCE_ENCODING_H_
#define WARPSMITH_GPU_WORKER_PLAN_SOURCE_ENCODING_H_

#include <string>
#include <string_view>

#include "common/status.h"

namespace warpsmith::plan {

absl::Status CheckEncoding(std::string_view file);

std::string_view WithoutByteOrderMark(std::string_view file);

// At most `max` characters of `text`, what is not printable ASCII as "?": for messages.
std::string Printable(std::string_view text, size_t max = 80);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_SOURCE_ENCODING_H_
