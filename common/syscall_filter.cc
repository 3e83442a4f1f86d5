#include "common/syscall_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace warpsmith {
namespace {

// Owns a libseccomp context.
class Filter {
 public:
  explicit Filter(uint32_t otherwise) : context_(seccomp_init(otherwise)) {}
  ~Filter() {
    if (context_) seccomp_release(context_);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  bool ok() const { return context_ != nullptr && error_ == 0; }
  int error() const { return error_; }

  void Add(uint32_t action, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      int number = seccomp_syscall_resolve_name(name);
      if (number == __NR_SCMP_ERROR) continue;  // unknown to this library: the default holds
      int result = seccomp_rule_add_array(context_, action, number, 0, nullptr);
      if (result != 0 && result != -EDOM) error_ = result;
    }
  }
  // Several rules for one call are alternatives.
  void AddIf(uint32_t action, const char* name, scmp_arg_cmp condition) {
    int result = seccomp_rule_add_array(context_, action, seccomp_syscall_resolve_name(name), 1, &condition);
    if (result != 0) error_ = result;
  }
  void CoverAllThreads() {
    if (int result = seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1); result != 0) error_ = result;
  }
  int Load() { return seccomp_load(context_); }

 private:
  scmp_filter_ctx context_;
  int error_ = 0;
};

constexpr std::initializer_list<const char*> kMemoryAndTime = {"mmap",
                                                               "munmap",
                                                               "mremap",
                                                               "madvise",
                                                               "brk",
                                                               "futex",
                                                               "clock_gettime",
                                                               "clock_getres",
                                                               "gettimeofday",
                                                               "time",
                                                               "nanosleep",
                                                               "clock_nanosleep",
                                                               "sched_yield",
                                                               "rt_sigaction",
                                                               "rt_sigprocmask",
                                                               "rt_sigreturn",
                                                               "sigaltstack",
                                                               "exit",
                                                               "exit_group",
                                                               "getpid",
                                                               "gettid",
                                                               "getrandom",
                                                               "restart_syscall",
                                                               "getcpu",
                                                               "sched_getaffinity",
                                                               "rseq",
                                                               "set_robust_list",
                                                               "membarrier",
                                                               "mprotect"};
constexpr std::initializer_list<const char*> kOpenDescriptors = {
    "read", "pread64", "readv", "write", "writev", "lseek", "close", "fstat", "poll", "ppoll", "msync"};
constexpr std::initializer_list<const char*> kOpenFiles = {"openat",     "open",     "newfstatat", "stat",
                                                           "lstat",      "statx",    "access",     "faccessat",
                                                           "faccessat2", "readlink", "readlinkat", "getcwd"};

// What the driver does after it has made a context, in whichever of its threads.
void AllowDriver(Filter& filter) {
  filter.Add(SCMP_ACT_ALLOW, kMemoryAndTime);
  filter.Add(SCMP_ACT_ALLOW, kOpenDescriptors);
  filter.Add(SCMP_ACT_ALLOW,
             {"newfstatat", "stat",       "lstat",    "statx",       "access",    "faccessat",  "faccessat2",
              "readlink",   "readlinkat", "getcwd",   "statfs",      "fstatfs",   "getdents64", "fcntl",
              "dup",        "dup2",       "dup3",     "flock",       "ftruncate", "fallocate",  "fadvise64",
              "preadv",     "pwritev",    "pwrite64", "memfd_create"});
  filter.Add(SCMP_ACT_ALLOW, {"ioctl", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait",
                              "epoll_pwait", "epoll_pwait2", "eventfd2", "pipe2", "timerfd_create", "timerfd_settime",
                              "timerfd_gettime", "rt_sigtimedwait", "rt_sigpending", "futex_waitv"});
  filter.Add(SCMP_ACT_ALLOW, {"mlock", "mlock2", "munlock", "mincore", "mbind", "get_mempolicy", "set_mempolicy"});
  filter.Add(SCMP_ACT_ALLOW,
             {"uname", "sysinfo", "getrlimit", "getrusage", "times", "getuid", "geteuid", "getgid", "getegid",
              "getppid", "sched_setaffinity", "sched_getscheduler", "sched_setscheduler", "sched_getparam",
              "sched_setparam", "sched_get_priority_max", "sched_get_priority_min", "arch_prctl", "set_tid_address"});
  filter.Add(SCMP_ACT_ALLOW, {"bind", "listen", "accept", "accept4", "connect", "shutdown", "sendmsg", "recvmsg",
                              "sendto", "recvfrom", "getsockname", "getpeername", "getsockopt", "setsockopt"});
  for (const char* name : {"socket", "socketpair"}) {
    filter.AddIf(SCMP_ACT_ALLOW, name, {0, SCMP_CMP_EQ, AF_UNIX, 0});
  }
  // The C library falls back to clone, whose flags a filter can read.
  filter.Add(SCMP_ACT_ERRNO(ENOSYS), {"clone3", "openat2"});
  filter.AddIf(SCMP_ACT_ALLOW, "clone", {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD});
  filter.AddIf(SCMP_ACT_ALLOW, "prlimit64", {0, SCMP_CMP_EQ, 0, 0});
  for (scmp_datum_t what : {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */}) {
    filter.AddIf(SCMP_ACT_ALLOW, "prctl", {0, SCMP_CMP_EQ, what, 0});
  }
  // Device files are opened for reading and writing; nothing is created, cut off or opened only to be written.
  constexpr scmp_datum_t kMask = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  for (scmp_datum_t mode : {O_RDONLY, O_RDWR}) {
    filter.AddIf(SCMP_ACT_ALLOW, "openat", {2, SCMP_CMP_MASKED_EQ, kMask, mode});
    filter.AddIf(SCMP_ACT_ALLOW, "open", {1, SCMP_CMP_MASKED_EQ, kMask, mode});
  }
}

}  // namespace

absl::Status FilterCalls(SyscallPolicy policy) {
  if (policy == SyscallPolicy::kNone) return absl::OkStatus();
  const bool device = policy == SyscallPolicy::kDevice;
  // A driver may try what it can do without.
  Filter filter(device ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS);
  if (!filter.ok()) return FailedPrecondition("sandbox: cannot make a seccomp filter");
  // The C library signals itself in abort() and raise(); a group or another process is out of reach.
  filter.AddIf(SCMP_ACT_ALLOW, "tgkill", {0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()), 0});
  if (device) {
    filter.CoverAllThreads();
    AllowDriver(filter);
  } else {
    filter.Add(SCMP_ACT_ALLOW, kMemoryAndTime);
    filter.Add(SCMP_ACT_ALLOW, kOpenDescriptors);
    filter.Add(SCMP_ACT_ALLOW, kOpenFiles);
  }
  if (policy == SyscallPolicy::kCompiler) {
    filter.Add(SCMP_ACT_ALLOW, {"clone",
                                "clone3",
                                "vfork",
                                "execve",
                                "wait4",
                                "waitid",
                                "pipe",
                                "pipe2",
                                "dup",
                                "dup2",
                                "dup3",
                                "fcntl",
                                "unlink",
                                "unlinkat",
                                "rename",
                                "renameat",
                                "renameat2",
                                "mkdir",
                                "mkdirat",
                                "rmdir",
                                "chmod",
                                "fchmod",
                                "fchmodat",
                                "fchown",
                                "umask",
                                "ftruncate",
                                "truncate",
                                "fallocate",
                                "pwrite64",
                                "getdents64",
                                "chdir",
                                "fchdir",
                                "getrlimit",
                                "prlimit64",
                                "getrusage",
                                "sysinfo",
                                "uname",
                                "arch_prctl",
                                "set_tid_address",
                                "getuid",
                                "geteuid",
                                "getgid",
                                "getegid",
                                "getppid",
                                "getpgrp",
                                "prctl",
                                "creat",
                                "symlink",
                                "symlinkat",
                                "utimensat",
                                "utime",
                                "fsync",
                                "fadvise64",
                                "link",
                                "linkat",
                                "sched_setaffinity",
                                "sched_getscheduler",
                                "sched_getparam",
                                "get_mempolicy",
                                "copy_file_range",
                                "sendfile",
                                "flock",
                                "pselect6",
                                "select",
                                "eventfd2",
                                "tgkill"});
    // Asked for by run-time libraries; an error suits them.
    filter.Add(SCMP_ACT_ERRNO(ENOTTY), {"ioctl"});
    filter.Add(SCMP_ACT_ERRNO(EPERM), {"socket", "connect", "kill", "tkill", "ptrace", "mbind", "set_mempolicy"});
  }
  if (policy == SyscallPolicy::kCompute) {
    filter.Add(SCMP_ACT_ERRNO(ENOTTY), {"ioctl"});
    filter.Add(SCMP_ACT_ERRNO(EPERM), {"prlimit64", "getrlimit", "sysinfo", "uname", "fcntl", "getdents64"});
  }
  if (!filter.ok()) return FailedPrecondition(ErrnoMessage("sandbox: seccomp rule", -filter.error()));
  if (int error = filter.Load(); error != 0) {
    return FailedPrecondition(ErrnoMessage("sandbox: this kernel refused the seccomp filter", -error));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith
