// Asks the GPU's memory manager that kernels of this process cannot reach its ordinary memory, where the system would
// otherwise let them (heterogeneous memory management). Whether that holds, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
// says afterwards.
// Threading: once, before the driver is initialised.
// Source of the method: NVIDIA's open kernel modules, the initialisation call of the unified-memory device, whose first
// flag is "disable HMM" and which the driver makes through the C library's ioctl.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_HOST_MEMORY_GUARD_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_HOST_MEMORY_GUARD_H_

namespace warpsmith::executor {

// Only in a program that exports this part's ioctl (a linker option); elsewhere it has no effect.
void KeepGpuOutOfHostMemory();

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_HOST_MEMORY_GUARD_H_
