// Exit statuses of warpsmith-worker besides 0 (drained) and 1 (could not start or go on).
// Threading: constants.
#ifndef WARPSMITH_GPU_WORKER_EXIT_CODE_H_
#define WARPSMITH_GPU_WORKER_EXIT_CODE_H_

namespace warpsmith {

inline constexpr int kExitGpuWedged = 3;   // a process hangs on the GPU; it may come back
inline constexpr int kExitGpuRetired = 4;  // the GPU is broken: an operator must see to it

}  // namespace warpsmith

#endif  // WARPSMITH_GPU_WORKER_EXIT_CODE_H_
