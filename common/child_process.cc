#include "common/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

namespace warpsmith {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
  ~Pipe() { Close(); }
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  static void CloseEnd(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  int Release(int Pipe::*end) {
    int value = this->*end;
    this->*end = -1;
    return value;
  }
  void Close() {
    CloseEnd(read);
    CloseEnd(write);
  }
};

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
  for (int signal = 1; signal < 32; ++signal) std::signal(signal, SIG_DFL);
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

// Forks; the parent learns of a failed exec through a pipe that exec closes.
absl::StatusOr<pid_t> Spawn(const ChildOptions& options, int standard_input, int standard_output, int standard_error) {
  if (options.arguments.empty()) return InvalidArgument("a child needs a program to run");
  Prepared prepared = Prepare(options);
  Pipe error;
  if (!error.Open()) return ResourceExhausted(ErrnoMessage("cannot open a pipe", errno));
  std::vector<std::pair<int, int>> wanted = {{standard_input, 0}, {standard_output, 1}, {standard_error, 2}};
  wanted.insert(wanted.end(), options.inherited_descriptors.begin(), options.inherited_descriptors.end());
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return ResourceExhausted(ErrnoMessage("cannot start a process", errno));
  if (pid == 0) ExecChild(options, prepared, wanted, error.write, parent);
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

// Reads what is there; false at the end of the stream.
bool Drain(int descriptor, std::string& out, size_t limit, bool& truncated) {
  char chunk[65536];
  ssize_t n = read(descriptor, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  size_t room = limit - std::min(limit, out.size());
  if (static_cast<size_t>(n) > room) truncated = true;
  out.append(chunk, std::min<size_t>(n, room));
  return true;
}

}  // namespace

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

absl::StatusOr<ChildExit> RunChild(const ChildOptions& options, std::string_view input, Duration limit) {
  Pipe in, out, err;
  if (!in.Open() || !out.Open() || !err.Open()) return ResourceExhausted(ErrnoMessage("cannot open a pipe", errno));
  TimePoint started = RealClock().Now();
  TimePoint deadline = started + limit;
  WARPSMITH_ASSIGN_OR_RETURN(
      pid_t pid, Spawn(options, in.read, out.write,
                       options.stderr_to_parent ? STDERR_FILENO : (options.merge_stderr ? out.write : err.write)));
  Pipe::CloseEnd(in.read);
  Pipe::CloseEnd(out.write);
  Pipe::CloseEnd(err.write);
  for (int d : {in.write, out.read, err.read}) SetNonBlocking(d);

  ChildExit result;
  std::string output, errors;
  bool truncated = false, timed_out = false;
  int status = 0;
  rusage usage{};
  // Grandchildren may hold the pipes open after the child has gone: its end, and not theirs, ends the wait.
  // It is left a zombie until the end, so that its number still names its group when that is killed.
  auto ended = [pid] {
    siginfo_t information{};
    return waitid(P_PID, pid, &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_pid == pid;
  };
  while (out.read >= 0 || err.read >= 0 || in.write >= 0) {
    if (input.empty()) Pipe::CloseEnd(in.write);
    pollfd polls[3] = {{in.write, POLLOUT, 0}, {out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
    if (RealClock().Now() >= deadline) {
      timed_out = true;
      break;
    }
    int ready = poll(polls, 3, std::min(PollTimeout(deadline), 50));
    if (ready == 0 && ended()) break;
    if (ready <= 0) continue;
    if (polls[0].revents) {
      ssize_t n = WriteQuietly(in.write, input.data(), std::min<size_t>(input.size(), 65536));
      if (n > 0) input.remove_prefix(n);
      if (n < 0 && errno != EAGAIN && errno != EINTR) Pipe::CloseEnd(in.write);
    }
    if (polls[1].revents && !Drain(out.read, output, options.max_output_bytes, truncated)) Pipe::CloseEnd(out.read);
    if (polls[2].revents && !Drain(err.read, errors, options.max_output_bytes, truncated)) Pipe::CloseEnd(err.read);
    if (out.read < 0 && err.read < 0) Pipe::CloseEnd(in.write);
  }
  while (!timed_out && !ended()) {
    if (RealClock().Now() >= deadline) timed_out = true;
    RealClock().SleepFor(std::chrono::microseconds(500));
  }
  kill(-pid, SIGKILL);  // whatever it left behind, and itself if it is late
  wait4(pid, &status, 0, &usage);
  result = ToExit(status, usage, started);
  result.timed_out = timed_out;
  result.standard_output = std::move(output);
  result.standard_error = std::move(errors);
  result.output_truncated = truncated;
  return result;
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildOptions& options) {
  Pipe in, out;
  if (!in.Open() || !out.Open()) return ResourceExhausted(ErrnoMessage("cannot open a pipe", errno));
  int null = -1;
  if (!options.stderr_to_parent && !options.merge_stderr) null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::unique_ptr<ChildProcess> child(new ChildProcess());
  child->started_ = RealClock().Now();
  auto pid = Spawn(options, in.read, out.write,
                   options.stderr_to_parent ? STDERR_FILENO : (options.merge_stderr ? out.write : null));
  if (null >= 0) close(null);
  if (!pid.ok()) return pid.status();
  child->pid_ = *pid;
  child->input_ = in.Release(&Pipe::write);
  child->output_ = out.Release(&Pipe::read);
  SetNonBlocking(child->input_);
  SetNonBlocking(child->output_);
  return child;
}

ChildProcess::~ChildProcess() {
  if (!exit_) {
    Kill(SIGKILL);
    Wait(std::chrono::seconds(10));
  }
  CloseInput();
  if (output_ >= 0) close(output_);
}

void ChildProcess::CloseInput() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

absl::Status ChildProcess::Write(std::string_view data, Duration limit) {
  TimePoint deadline = RealClock().Now() + limit;
  while (!data.empty()) {
    if (input_ < 0) return Unavailable("the child's input is closed");
    ssize_t n = WriteQuietly(input_, data.data(), data.size());
    if (n > 0) {
      data.remove_prefix(n);
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return Unavailable(ErrnoMessage("cannot write to the child", errno));
    if (RealClock().Now() >= deadline) return DeadlineExceeded("the child did not take its input in time");
    pollfd polls{input_, POLLOUT, 0};
    poll(&polls, 1, PollTimeout(deadline));
  }
  return absl::OkStatus();
}

absl::Status ChildProcess::FillBuffer(Duration limit) {
  TimePoint deadline = RealClock().Now() + limit;
  for (;;) {
    char chunk[65536];
    ssize_t n = read(output_, chunk, sizeof chunk);
    if (n > 0) {
      buffer_.append(chunk, n);
      return absl::OkStatus();
    }
    if (n == 0) return Unavailable("the child closed its output");
    if (errno != EAGAIN && errno != EINTR) return Unavailable(ErrnoMessage("cannot read from the child", errno));
    if (RealClock().Now() >= deadline) return DeadlineExceeded("the child did not answer in time");
    pollfd polls{output_, POLLIN, 0};
    poll(&polls, 1, PollTimeout(deadline));
  }
}

absl::StatusOr<std::string> ChildProcess::ReadLine(Duration limit, size_t max_bytes) {
  TimePoint deadline = RealClock().Now() + limit;
  size_t searched = 0;
  for (;;) {
    size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > max_bytes) return ResourceExhausted(fmt::format("the child wrote a line over {} bytes", max_bytes));
    WARPSMITH_RETURN_IF_ERROR(FillBuffer(deadline - RealClock().Now()));
  }
}

absl::StatusOr<std::string> ChildProcess::ReadExactly(size_t size, Duration limit) {
  TimePoint deadline = RealClock().Now() + limit;
  while (buffer_.size() < size) WARPSMITH_RETURN_IF_ERROR(FillBuffer(deadline - RealClock().Now()));
  std::string data = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return data;
}

bool ChildProcess::Running() { return !Wait(Duration(0)).has_value(); }

std::optional<ChildExit> ChildProcess::Wait(Duration limit) {
  if (exit_) return exit_;
  TimePoint deadline = RealClock().Now() + limit;
  Duration pause = std::chrono::microseconds(100);
  for (;;) {
    int status = 0;
    rusage usage{};
    if (wait4(pid_, &status, WNOHANG, &usage) == pid_) {
      exit_ = ToExit(status, usage, started_);
      return exit_;
    }
    if (RealClock().Now() >= deadline) return std::nullopt;
    RealClock().SleepFor(pause);
    pause = std::min<Duration>(pause * 2, std::chrono::milliseconds(5));
  }
}

void ChildProcess::Kill(int signal) {
  pid_t pid = pid_;
  if (pid > 0 && !exit_) {
    kill(-pid, signal);
    kill(pid, signal);  // a child in a session of its own has another group
  }
}

void ChildProcess::Detach() {
  if (!exit_) exit_.emplace();
}

bool ChildProcess::Stop(Duration grace) {
  if (exit_) return true;
  Kill(SIGTERM);
  if (Wait(grace)) return true;
  Kill(SIGKILL);
  return Wait(std::chrono::seconds(10)).has_value();
}

}  // namespace warpsmith
