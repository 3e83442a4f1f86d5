#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/exit_code.h"

namespace warpsmith::cli {
namespace {

std::atomic<int> g_interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler may touch nothing else

// Three: the first ends the work, the second may hit the cleaning up, the third is meant.
constexpr int kPatience = 3;

void OnSignal(int) {
  if (g_interrupts.fetch_add(1) + 1 >= kPatience) _exit(kExitInterrupted);
}

}  // namespace

void InstallInterrupt() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return g_interrupts.load() > 0; }

void ClearInterrupt() { g_interrupts = 0; }

void SetInterruptedForTest() { g_interrupts = 1; }

}  // namespace warpsmith::cli
