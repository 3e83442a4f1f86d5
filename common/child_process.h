// A child process that stays, with pipes at its standard input and output: started by fork and exec from any thread,
// killed from outside together with everything it started (own process group).
// Threading: a ChildProcess is used from one thread at a time; Kill may be called from any.
// Errors: absl::Status for the world's failures; a child's exit is a value, not an error.
#ifndef WARPSMITH_COMMON_CHILD_PROCESS_H_
#define WARPSMITH_COMMON_CHILD_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/child_options.h"
#include "common/clock.h"
#include "common/status.h"

namespace warpsmith {

class ChildProcess {
 public:
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildOptions& options);
  ~ChildProcess();  // kills the group and reaps
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  int input_descriptor() const { return input_; }    // write end of the child's standard input
  int output_descriptor() const { return output_; }  // read end of the child's standard output
  void CloseInput();

  absl::Status Write(std::string_view data, Duration deadline);
  // One line without its newline. DeadlineExceeded, or Unavailable once the child has closed its output.
  absl::StatusOr<std::string> ReadLine(Duration deadline, size_t max_bytes = 64u << 20);
  // Exactly `size` bytes.
  absl::StatusOr<std::string> ReadExactly(size_t size, Duration deadline);

  bool Running();                                    // reaps if it has ended
  std::optional<ChildExit> Wait(Duration deadline);  // nullopt: still running
  void Kill(int signal);                             // to the whole group
  // SIGTERM, then SIGKILL after `grace`; false if it is not gone within a bounded wait (uninterruptible sleep).
  bool Stop(Duration grace);
  // Leaves it to itself (a daemon, started with die_with_parent = false): neither killed nor reaped from here on.
  void Detach();

 private:
  ChildProcess() = default;
  absl::Status FillBuffer(Duration deadline);

  std::atomic<pid_t> pid_{-1};
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
  std::optional<ChildExit> exit_;
  TimePoint started_{};
};

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_CHILD_PROCESS_H_
