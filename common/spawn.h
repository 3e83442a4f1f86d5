// How children are made: what run_child and child_process share.
// Threading: any thread may spawn. Errors: ResourceExhausted where the machine has no more pipes or processes,
// FailedPrecondition where the program cannot be run.
#ifndef WARPSMITH_COMMON_SPAWN_H_
#define WARPSMITH_COMMON_SPAWN_H_

#include <sys/resource.h>
#include <sys/types.h>

#include "common/child_options.h"
#include "common/clock.h"
#include "common/status.h"

namespace warpsmith {

struct Pipe {
  int read = -1;
  int write = -1;
  ~Pipe() { Close(); }
  bool Open();
  static void CloseEnd(int& end);
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

// Forks; the parent learns of a failed exec through a pipe that exec closes.
absl::StatusOr<pid_t> Spawn(const ChildOptions& options, int standard_input, int standard_output, int standard_error);

ChildExit ToExit(int status, const rusage& usage, TimePoint started);

// Milliseconds for poll(2) until a deadline, at most a second.
int PollTimeout(TimePoint deadline);
void SetNonBlocking(int descriptor);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SPAWN_H_
