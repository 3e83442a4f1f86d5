// Locks the calling process down before it touches anything that a model wrote: no_new_privs, not dumpable, Landlock
// (only the named paths), rlimits, and a seccomp allow-list. Irreversible; call it from a process made for one job.
// Threading: the process must have one thread (but see RestrictCalls).
// Source of the method: Linux Landlock and seccomp(2) documentation.
#ifndef WARPSMITH_COMMON_SANDBOX_H_
#define WARPSMITH_COMMON_SANDBOX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/syscall_filter.h"

namespace warpsmith {

struct SandboxOptions {
  std::vector<std::string> read_paths;    // files or folders, readable (and executable where `allow_execute`)
  std::vector<std::string> write_paths;   // folders, readable and writable
  std::vector<std::string> device_paths;  // device files, readable, writable and open to ioctl
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

// The two halves of it, for a process whose libraries start threads in between, as a GPU's driver does. Files come
// first, while there is one thread: threads take the restriction over from the one that makes them. Limits, "not
// dumpable" and, with kDevice, the seccomp filter hold for all threads whenever they are set.
absl::Status RestrictFiles(const SandboxOptions& options);
absl::Status RestrictCalls(const SandboxOptions& options);

// Which Landlock ABI the kernel has; 0: none.
int LandlockAbi();

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SANDBOX_H_
