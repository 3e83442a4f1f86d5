// Locks the calling process down before it touches anything that a model wrote: no_new_privs, not dumpable, Landlock
// (only the named paths), rlimits, and a seccomp allow-list. Irreversible; call it from a process made for one job.
// Threading: the process must have one thread.
// Source of the method: Linux Landlock and seccomp(2) documentation.
#ifndef WARPSMITH_COMMON_SANDBOX_H_
#define WARPSMITH_COMMON_SANDBOX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith {

enum class SyscallPolicy {
  kNone,      // no seccomp filter
  kCompiler,  // file reads and writes, memory, vfork/execve/wait for the compiler's own stages; no sockets, no ptrace
  kCompute,   // memory, time, signals of its own, reading and writing open descriptors; opening only what Landlock
              // allows, read-only; no fork, exec, sockets, kill, ioctl, threads
};

struct SandboxOptions {
  std::vector<std::string> read_paths;   // files or folders, readable (and executable where `allow_execute`)
  std::vector<std::string> write_paths;  // folders, readable and writable
  bool allow_execute = false;
  SyscallPolicy syscalls = SyscallPolicy::kCompute;
  uint64_t cpu_seconds = 0;  // 0: unlimited
  uint64_t address_space_bytes = 0;
  uint64_t file_bytes = 0;  // largest file it may write; 0: unlimited
  uint64_t processes = 0;   // RLIMIT_NPROC; 0: unlimited (counts all of the user's)
  uint64_t open_files = 64;
  bool no_network = true;  // Landlock's TCP rules where the kernel has them, besides seccomp
};

// FailedPrecondition names what this kernel lacks (Landlock before 5.13, seccomp); nothing runs unsandboxed then.
absl::Status EnterSandbox(const SandboxOptions& options);

// Which Landlock ABI the kernel has; 0: none.
int LandlockAbi();

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SANDBOX_H_
