#include "common/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "common/spawn.h"

namespace warpsmith {

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
