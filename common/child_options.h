// What a child process gets and how it ended.
// Threading: values; WriteQuietly is safe from any thread. Units: seconds, bytes.
#ifndef WARPSMITH_COMMON_CHILD_OPTIONS_H_
#define WARPSMITH_COMMON_CHILD_OPTIONS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  bool die_with_parent = true;  // SIGKILL when this process ends, however it ends; false for daemons
  bool new_session = false;     // setsid instead of setpgid, for daemons
  // SIGTERM, SIGINT and SIGHUP pass it by, and its children. A batch system sends them to every process of a job, where
  // it is the parent that ends its work in order; a child that died of one would look like one that its task killed.
  bool ignore_stop_signals = false;
};

struct ChildExit {
  bool timed_out = false;  // killed by us at the deadline
  bool stopped = false;    // killed by us since a hook of RunChild asked for it
  bool signaled = false;
  int exit_code = 0;  // where not signaled
  int signal = 0;     // where signaled
  std::string standard_output;
  std::string standard_error;
  bool output_truncated = false;
  double seconds = 0;               // wall time
  double first_output_seconds = 0;  // until it first wrote to its standard output; RunChild only
  double cpu_seconds = 0;           // user and system, of the child itself and what it waited for
  int64_t max_resident_bytes = 0;
  // "exit status 3", "killed by SIGSEGV", "stopped at its deadline of 2.0 s"
  std::string Describe() const;
};

// write(2) to a pipe whose reader may be gone: an error, never the signal that ends a process, whatever the program has
// done about SIGPIPE.
ssize_t WriteQuietly(int descriptor, const char* data, size_t size);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_CHILD_OPTIONS_H_
