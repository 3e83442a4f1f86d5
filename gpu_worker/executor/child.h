// The executor child: reads its spec, maps the buffers, locks itself down, and only then loads the candidate and runs
// its plan as asked. Whatever the candidate does, the process says at most one thing more about it and ends.
// Threading: the process's only thread.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_H_

namespace warpsmith::executor {

// Speaks over standard input and output; the exit status.
int RunChildProcess();

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CHILD_H_
