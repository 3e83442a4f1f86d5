#include "common/shutdown.h"

#include <unistd.h>

#include <csignal>
#include <thread>

#include "common/clock.h"
#include "common/log.h"

namespace warpsmith {
namespace {

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void BlockSignals() {
  sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int WaitForSignal() {
  sigset_t set = Signals();
  int signal = 0;
  while (sigwait(&set, &signal) != 0) {
  }
  return signal;
}

bool StopRequested() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

void ExitAfter(double seconds) {
  std::thread([seconds] {
    RealClock().SleepFor(FromSeconds(seconds));
    spdlog::error("shutdown took longer than {} s; leaving now", seconds);
    _exit(1);
  }).detach();
}

}  // namespace warpsmith
