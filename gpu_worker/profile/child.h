// The profiler child: one request from standard input, one profile to standard output. It loads a candidate's compiled
// code onto the GPU and runs nothing of it on the CPU.
// Threading: the process's main thread.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_CHILD_H_
#define WARPSMITH_GPU_WORKER_PROFILE_CHILD_H_

namespace warpsmith::profile {

struct ChildSettings {
  bool restrict_files = true;  // Landlock, where the kernel has it
};

// The exit status; 0 whenever a reply was written, be it an error.
int RunChildProcess(const ChildSettings& settings);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_CHILD_H_
