#include "common/run_child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "common/spawn.h"

namespace warpsmith {
namespace {

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

absl::StatusOr<ChildExit> RunChild(const ChildOptions& options, std::string_view input, Duration limit,
                                   const RunHooks& hooks) {
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
  bool truncated = false, timed_out = false, stopped = false;
  double first_output = 0;
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
    if (hooks.keep_running && !hooks.keep_running()) stopped = true;
    if (stopped) break;
    int ready = poll(polls, 3, std::min(PollTimeout(deadline), 50));
    if (ready == 0 && ended()) break;
    if (ready <= 0) continue;
    if (polls[0].revents) {
      ssize_t n = WriteQuietly(in.write, input.data(), std::min<size_t>(input.size(), 65536));
      if (n > 0) input.remove_prefix(n);
      if (n < 0 && errno != EAGAIN && errno != EINTR) Pipe::CloseEnd(in.write);
    }
    if (polls[1].revents) {
      size_t before = output.size();
      if (!Drain(out.read, output, options.max_output_bytes, truncated)) Pipe::CloseEnd(out.read);
      if (before == 0 && !output.empty()) first_output = ToSeconds(RealClock().Now() - started);
      std::string_view piece = std::string_view(output).substr(before);
      if (hooks.on_output && !piece.empty() && !hooks.on_output(piece)) stopped = true;
    }
    if (polls[2].revents && !Drain(err.read, errors, options.max_output_bytes, truncated)) Pipe::CloseEnd(err.read);
    if (out.read < 0 && err.read < 0) Pipe::CloseEnd(in.write);
  }
  while (!timed_out && !stopped && !ended()) {
    if (RealClock().Now() >= deadline) timed_out = true;
    if (hooks.keep_running && !hooks.keep_running()) stopped = true;
    RealClock().SleepFor(std::chrono::microseconds(500));
  }
  kill(-pid, SIGKILL);  // whatever it left behind, and itself if it is late
  wait4(pid, &status, 0, &usage);
  result = ToExit(status, usage, started);
  result.timed_out = timed_out;
  result.stopped = stopped;
  result.first_output_seconds = first_output;
  result.standard_output = std::move(output);
  result.standard_error = std::move(errors);
  result.output_truncated = truncated;
  return result;
}

}  // namespace warpsmith
