// The emulated device of a process: the table that kernels use, connected to a scheduler, a heap and a print buffer,
// and the handling of what stops a kernel in the middle. Threading: one thread, one device a process.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DEVICE_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DEVICE_H_

#include "gpu_worker/device/emulated/device_heap.h"
#include "gpu_worker/device/emulated/print_buffer.h"
#include "gpu_worker/device/emulated/scheduler.h"

namespace warpsmith::device {

// Takes what stopped the process's kernel; never returns. It may run on a signal's stack, so it allocates nothing.
using FaultHandler = void (*)(FaultKind kind, const char* message);

// Fills in the exported table and catches SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT on a stack of their own. Integer
// divisions by zero are put right where they trap.
void StartDevice(FaultHandler handler);
// Which scheduler the running kernel belongs to; null: none runs.
void SetScheduler(Scheduler* scheduler);

DeviceHeap& Heap();
PrintBuffer& Printed();

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DEVICE_H_
