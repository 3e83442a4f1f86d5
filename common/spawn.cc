#include "common/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

namespace warpsmith {
namespace {

// Everything the child needs, made before fork: after it only async-signal-safe calls are allowed.
struct Prepared {
  std::vector<char*> argv;
  std::vector<std::string> environment_text;
  std::vector<char*> envp;
  const char* program;
  std::vector<std::string> candidates;  // where the program may lie
};

std::vector<std::string> ProgramCandidates(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> found;
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "/usr/bin:/bin";
  for (size_t start = 0; start <= folders.size();) {
    size_t end = std::min(folders.find(':', start), folders.size());
    found.push_back(folders.substr(start, end - start) + "/" + program);
    start = end + 1;
  }
  return found;
}

void SetLimit(int resource, uint64_t value) {
  if (value == 0) return;
  rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

[[noreturn]] void FailChild(int error_pipe) {
  int error = errno;
  ssize_t ignored = write(error_pipe, &error, sizeof error);
  (void)ignored;
  _exit(127);
}

// Moves the wanted descriptors into place without overwriting one that is still to be moved.
void PlaceDescriptors(std::vector<std::pair<int, int>>& wanted, int error_pipe) {
  int floor = error_pipe;
  for (auto& [ours, theirs] : wanted) floor = std::max({floor, ours, theirs});
  for (auto& [ours, theirs] : wanted) {
    int moved = fcntl(ours, F_DUPFD_CLOEXEC, floor + 1);
    if (moved < 0) FailChild(error_pipe);
    ours = moved;
  }
  for (auto& [ours, theirs] : wanted) {
    if (dup2(ours, theirs) < 0) FailChild(error_pipe);
  }
}

[[noreturn]] void ExecChild(const ChildOptions& options, Prepared& prepared, std::vector<std::pair<int, int>>& wanted,
                            int error_pipe, pid_t parent) {
  if (options.new_session) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  if (options.run_as_gid && (setgroups(0, nullptr) != 0 || setgid(*options.run_as_gid) != 0)) FailChild(error_pipe);
  if (options.run_as_uid && setuid(*options.run_as_uid) != 0) FailChild(error_pipe);
  if (options.die_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
  }
  if (!options.working_directory.empty() && chdir(options.working_directory.c_str()) != 0) FailChild(error_pipe);
  // Out of the way of the numbers that are about to be taken.
  int high = fcntl(error_pipe, F_DUPFD_CLOEXEC, 200);
  if (high >= 0) error_pipe = high;
  PlaceDescriptors(wanted, error_pipe);
  int highest = 2;
  for (auto& [ours, theirs] : wanted) highest = std::max(highest, theirs);
  // Every descriptor that was not asked for closes at exec, whoever forgot O_CLOEXEC.
  syscall(SYS_close_range, highest + 1, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */);
  for (int d = 3; d <= highest; ++d) {
    bool kept = std::any_of(wanted.begin(), wanted.end(), [d](auto& pair) { return pair.second == d; });
    if (!kept && d != error_pipe) close(d);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal = 1; signal < 32; ++signal) {
    const bool stop = signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
    std::signal(signal, stop && options.ignore_stop_signals ? SIG_IGN : SIG_DFL);
  }
  SetLimit(RLIMIT_CPU, options.cpu_seconds);
  SetLimit(RLIMIT_AS, options.address_space_bytes);
  SetLimit(RLIMIT_FSIZE, options.file_bytes);
  char** environment = options.environment ? prepared.envp.data() : environ;
  errno = ENOENT;
  for (const std::string& candidate : prepared.candidates) execve(candidate.c_str(), prepared.argv.data(), environment);
  FailChild(error_pipe);
}

Prepared Prepare(const ChildOptions& options) {
  Prepared prepared;
  for (const std::string& argument : options.arguments) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  if (options.environment) {
    for (auto& [name, value] : *options.environment)
      prepared.environment_text.push_back(fmt::format("{}={}", name, value));
    for (std::string& text : prepared.environment_text) prepared.envp.push_back(text.data());
  }
  prepared.envp.push_back(nullptr);
  prepared.candidates = ProgramCandidates(options.arguments[0]);
  return prepared;
}

// The kernel ends a child that is to die with its parent when the thread that forked it ends, so one thread that never
// does forks them all.
class Forker {
 public:
  static Forker& Get() {
    static Forker& forker = *new Forker;  // outlives everything that could still start a child
    return forker;
  }

  pid_t Fork(const std::function<pid_t()>& fork_child) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return job_ == nullptr; });
    job_ = &fork_child;
    done_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return done_; });
    const pid_t pid = pid_;
    errno = error_;
    job_ = nullptr;
    changed_.notify_all();
    return pid;
  }

 private:
  Forker() {
    std::thread([this] { Run(); }).detach();
  }

  void Run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals are for the program's own threads
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return job_ != nullptr && !done_; });
      pid_ = (*job_)();
      error_ = errno;
      done_ = true;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<pid_t()>* job_ = nullptr;
  bool done_ = false;
  pid_t pid_ = -1;
  int error_ = 0;
};

}  // namespace

bool Pipe::Open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  read = ends[0];
  write = ends[1];
  return true;
}

void Pipe::CloseEnd(int& end) {
  if (end >= 0) close(end);
  end = -1;
}

absl::StatusOr<pid_t> Spawn(const ChildOptions& options, int standard_input, int standard_output, int standard_error) {
  if (options.arguments.empty()) return InvalidArgument("a child needs a program to run");
  Prepared prepared = Prepare(options);
  Pipe error;
  if (!error.Open()) return ResourceExhausted(ErrnoMessage("cannot open a pipe", errno));
  std::vector<std::pair<int, int>> wanted = {{standard_input, 0}, {standard_output, 1}, {standard_error, 2}};
  wanted.insert(wanted.end(), options.inherited_descriptors.begin(), options.inherited_descriptors.end());
  pid_t parent = getpid();
  auto fork_child = [&]() -> pid_t {
    pid_t pid = fork();
    if (pid == 0) ExecChild(options, prepared, wanted, error.write, parent);
    return pid;
  };
  pid_t pid = options.die_with_parent ? Forker::Get().Fork(fork_child) : fork_child();
  if (pid < 0) return ResourceExhausted(ErrnoMessage("cannot start a process", errno));
  setpgid(pid, pid);  // also here: a Kill right away must find the group
  Pipe::CloseEnd(error.write);
  int child_error = 0;
  ssize_t n;
  do {
    n = read(error.read, &child_error, sizeof child_error);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof child_error) {
    waitpid(pid, nullptr, 0);
    return FailedPrecondition(ErrnoMessage(fmt::format("cannot run {}", options.arguments[0]), child_error));
  }
  return pid;
}

ChildExit ToExit(int status, const rusage& usage, TimePoint started) {
  ChildExit exit;
  if (WIFSIGNALED(status)) {
    exit.signaled = true;
    exit.signal = WTERMSIG(status);
  } else {
    exit.exit_code = WEXITSTATUS(status);
  }
  exit.seconds = ToSeconds(RealClock().Now() - started);
  exit.cpu_seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  exit.max_resident_bytes = usage.ru_maxrss * 1024;
  return exit;
}

int PollTimeout(TimePoint deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - RealClock().Now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1000));
}

void SetNonBlocking(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

ssize_t WriteQuietly(int descriptor, const char* data, size_t size) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t n = write(descriptor, data, size);
  int error = errno;
  if (n < 0 && error == EPIPE && !was_pending) {
    timespec none{};
    sigtimedwait(&pipe_signal, nullptr, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

std::string ChildExit::Describe() const {
  if (timed_out) return fmt::format("stopped at its deadline after {:.1f} s", seconds);
  if (signaled) {
    const char* name = sigabbrev_np(signal);
    return name ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", signal);
  }
  return fmt::format("exit status {}", exit_code);
}

}  // namespace warpsmith
