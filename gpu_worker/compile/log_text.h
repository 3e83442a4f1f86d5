// Compiler logs made fit to show: bounded, valid UTF-8, without paths of this machine; and what they say at a glance.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_LOG_TEXT_H_
#define WARPSMITH_GPU_WORKER_COMPILE_LOG_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpsmith::compile {

inline constexpr size_t kMaxLogBytes = 16 << 10;
inline constexpr size_t kMaxMessageBytes = 2000;

struct PathName {
  std::string folder;  // absolute, on this machine
  std::string shown;   // what stands for it
};

// Replaces each folder (longest first), tells a file that is out of reach as one that is missing, drops control
// characters and bytes that are not UTF-8, and keeps the beginning and the end of what is over `max_bytes`.
std::string CleanLog(std::string_view log, std::vector<PathName> folders, size_t max_bytes = kMaxLogBytes);

// The first few errors with the lines that belong to each; the log's beginning where no line looks like an error.
std::string FirstErrors(std::string_view log);

// Where a line such as "candidate.cu(3): error: x" (NVRTC) or "candidate.cu:3:5: error: x" (g++) points.
struct ErrorLine {
  std::string file;
  int line = 0;
  std::string text;
};
std::optional<ErrorLine> ParseErrorLine(std::string_view line);
std::vector<ErrorLine> ErrorLines(std::string_view log);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_LOG_TEXT_H_
