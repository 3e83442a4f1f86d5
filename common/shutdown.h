// Waiting for SIGTERM or SIGINT on the main thread.
// Threading: BlockSignals before any other thread starts; WaitForSignal from main only.
#ifndef WARPSMITH_COMMON_SHUTDOWN_H_
#define WARPSMITH_COMMON_SHUTDOWN_H_

namespace warpsmith {

void BlockSignals();  // SIGTERM, SIGINT, SIGHUP for this and all later threads; SIGPIPE ignored
int WaitForSignal();  // the signal that came
// Whether SIGTERM or SIGINT is waiting to be told by WaitForSignal: for what may take long before that.
bool StopRequested();
// _exit(1) with a log line if the process is still there after this many seconds: shutdown never hangs.
void ExitAfter(double seconds);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SHUTDOWN_H_
