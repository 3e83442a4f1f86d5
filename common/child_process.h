// Child processes: started by fork and exec from any thread, fed and drained without deadlock, killed from outside at
// their deadline together with everything they started (own process group).
// Threading: a ChildProcess is used from one thread at a time; Kill may be called from any.
// Errors: absl::Status for the world's failures; a child's exit is a value, not an error.
#ifndef WARPSMITH_COMMON_CHILD_PROCESS_H_
#define WARPSMITH_COMMON_CHILD_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith {

struct ChildOptions {
  std::vector<std::string> arguments;  // arguments[0] is the program, an absolute path or looked up in PATH
  std::optional<std::map<std::string, std::string>> environment;  // unset: inherited; empty map: none at all
  std::string working_directory;                                  // empty: inherited
  std::vector<std::pair<int, int>> inherited_descriptors;         // {ours, number in the child}; all others are closed
  bool merge_stderr = false;                                      // standard error into standard output
  bool stderr_to_parent = false;                                  // leave standard error where the parent's goes
  size_t max_output_bytes = 16u << 20;  // of each stream in RunChild; the rest is read and dropped
  uint64_t cpu_seconds = 0;             // RLIMIT_CPU; 0: unlimited
  uint64_t address_space_bytes = 0;     // RLIMIT_AS; 0: unlimited
  uint64_t file_bytes = 0;              // RLIMIT_FSIZE; 0: unlimited
  std::optional<uid_t> run_as_uid;      // setgroups({}), setgid, setuid in the child
  std::optional<gid_t> run_as_gid;
  bool die_with_parent = true;  // SIGKILL when the starting thread ends (not only the process): start
                                // lasting children from lasting threads; false for daemons
  bool new_session = false;     // setsid instead of setpgid, for daemons
};

struct ChildExit {
  bool timed_out = false;  // killed by us at the deadline
  bool signaled = false;
  int exit_code = 0;  // where not signaled
  int signal = 0;     // where signaled
  std::string standard_output;
  std::string standard_error;
  bool output_truncated = false;
  double seconds = 0;      // wall time
  double cpu_seconds = 0;  // user and system, of the child itself and what it waited for
  int64_t max_resident_bytes = 0;
  // "exit status 3", "killed by SIGSEGV", "stopped at its deadline of 2.0 s"
  std::string Describe() const;
};

// write(2) to a pipe whose reader may be gone: an error, never the signal that ends a process, whatever the program has
// done about SIGPIPE.
ssize_t WriteQuietly(int descriptor, const char* data, size_t size);

// Runs a child to its end or the deadline; `input` goes to its standard input.
absl::StatusOr<ChildExit> RunChild(const ChildOptions& options, std::string_view input, Duration deadline);

// A child that stays, with pipes at its standard input and output.
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
