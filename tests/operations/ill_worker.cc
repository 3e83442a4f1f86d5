// A worker whose device is ill: it says that a process on it cannot be ended, takes no work, and stays until a
// signal ends it. For tests that ask dashboards which GPU is ill, where there is no GPU to break.
#include <unistd.h>

#include "tests/coordinator/scripted_worker.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  warpsmith::testing::ScriptedWorker worker(argv[1], argv[2], "boot-of-" + std::string(argv[2]), 1);
  worker.draining = true;
  worker.wedged = true;
  for (;;) pause();
}
