// SIGINT, SIGTERM and SIGHUP as a flag that waits look at. Children are in groups of their own and get none of it.
// Threading: Install once, in main, before other threads; the rest from any thread.
#ifndef WARPSMITH_CLI_INTERRUPT_H_
#define WARPSMITH_CLI_INTERRUPT_H_

namespace warpsmith::cli {

// The third signal ends the program at once, with status 130.
void InstallInterrupt();
bool Interrupted();
void ClearInterrupt();  // what follows (cleaning up) is not to be cut short
void SetInterruptedForTest();

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_INTERRUPT_H_
