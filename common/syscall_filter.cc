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
  filter.AddIf(SCMP_ACT_ALLOW, "prlimit64", {0, SCMP_CMP_EQ, 0, 0});
  for (scmp_datum_t what : {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */}) {
    filter.AddIf(SCMP_ACT_ALLOW, "prctl", {0, SCMP_CMP_EQ, what, 0});
  }
}

// Beside the driver's own work: threads, but no processes, and files that are there already.
void AllowNothingNew(Filter& filter) {
  filter.AddIf(SCMP_ACT_ALLOW, "clone", {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD});
  // Device files are opened for reading and writing; nothing is created, cut off or opened only to be written.
  constexpr scmp_datum_t kMask = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  for (scmp_datum_t mode : {O_RDONLY, O_RDWR}) {
    filter.AddIf(SCMP_ACT_ALLOW, "openat", {2, SCMP_CMP_MASKED_EQ, kMask, mode});
    filter.AddIf(SCMP_ACT_ALLOW, "open", {1, SCMP_CMP_MASKED_EQ, kMask, mode});
  }
}

// Beside the driver's own work: programs and files, as an interpreter and the compilers that it starts need them.
void AllowPrograms(Filter& filter) {
  constexpr scmp_datum_t kNamespaces =
      CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
  filter.AddIf(SCMP_ACT_ALLOW, "clone", {0, SCMP_CMP_MASKED_EQ, kNamespaces, 0});
  filter.Add(SCMP_ACT_ALLOW, {"fork", "vfork", "execve", "wait4", "waitid", "pipe", "umask", "close_range"});
  filter.Add(SCMP_ACT_ALLOW,
             {"open",      "openat",  "creat",     "unlink",          "unlinkat", "rename",  "renameat",
              "renameat2", "mkdir",   "mkdirat",   "rmdir",           "link",     "linkat",  "symlink",
              "symlinkat", "chmod",   "fchmod",    "fchmodat",        "truncate", "fsync",   "fdatasync",
              "utime",     "utimes",  "utimensat", "futimesat",       "chdir",    "fchdir",  "fchown",
              "sendfile",  "preadv2", "pwritev2",  "copy_file_range", "getdents", "pwritev", "readahead"});
  filter.Add(SCMP_ACT_ALLOW, {"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr"});
  filter.Add(
      SCMP_ACT_ALLOW,
      {"alarm",         "pause",        "getitimer",        "setitimer",       "timer_create",  "timer_settime",
       "timer_gettime", "timer_delete", "timer_getoverrun", "rt_sigsuspend",   "signalfd4",     "poll",
       "epoll_pwait",   "getpgrp",      "getpgid",          "getsid",          "getresuid",     "getresgid",
       "getgroups",     "capget",       "getpriority",      "get_robust_list", "sched_getattr", "sched_rr_get_interval",
       "seccomp"});
  // A process that left its group would outlive the group's end. Build tools ask for groups of their own, and go on
  // where they believe that they have one.
  filter.Add(SCMP_ACT_ERRNO(0), {"setpgid", "setsid"});
}

}  // namespace

absl::Status FilterCalls(SyscallPolicy policy) {
  if (policy == SyscallPolicy::kNone) return absl::OkStatus();
  const bool device = policy == SyscallPolicy::kDevice;
  const bool host_code = policy == SyscallPolicy::kHostCode;
  // A driver may try what it can do without.
  Filter filter(device || host_code ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS);
  if (!filter.ok()) return FailedPrecondition("sandbox: cannot make a seccomp filter");
  // The C library signals itself in abort() and raise(); a group or another process is out of reach.
  filter.AddIf(SCMP_ACT_ALLOW, "tgkill", {0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()), 0});
  if (device || host_code) {
    filter.CoverAllThreads();
    AllowDriver(filter);
    if (device) AllowNothingNew(filter);
    if (host_code) AllowPrograms(filter);
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
