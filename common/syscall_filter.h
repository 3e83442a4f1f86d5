// seccomp filters: which system calls a process may still make.
// Threading: for kDevice and kHostCode all threads of the process are filtered; for the others the process has one
// thread. Errors: FailedPrecondition where this kernel has no seccomp. Source of the method: seccomp(2) and
// libseccomp's documentation.
#ifndef WARPSMITH_COMMON_SYSCALL_FILTER_H_
#define WARPSMITH_COMMON_SYSCALL_FILTER_H_

#include "common/status.h"

namespace warpsmith {

enum class SyscallPolicy {
  kNone,      // no seccomp filter
  kCompiler,  // file reads and writes, memory, vfork/execve/wait for the compiler's own stages; no sockets, no ptrace
  kCompute,   // memory, time, signals of its own, reading and writing open descriptors; opening only what Landlock
              // allows, read-only; no fork, exec, sockets, kill, ioctl, threads
  kDevice,  // what a GPU's driver goes on doing once a context stands: memory, threads, ioctl, waiting, opening device
            // files, local sockets (over which CUDA shares memory); all else fails with EPERM: programs, processes,
            // the network, tracing, signals to others, new files, mounts, privileges
  kHostCode,  // an interpreter, what it imports and the compilers that it starts: kDevice's calls, programs, processes
              // that cannot leave their group, files where Landlock allows them; all else fails with EPERM
};

absl::Status FilterCalls(SyscallPolicy policy);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SYSCALL_FILTER_H_
