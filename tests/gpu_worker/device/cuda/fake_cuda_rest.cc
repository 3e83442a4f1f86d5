// All other functions of the fake driver: each refuses. Weak, so that fake_cuda.cc's stand before them.
#include <cuda.h>

#define WARPSMITH_TEXT(name) #name
#define WARPSMITH_SYMBOL(name) WARPSMITH_TEXT(name)
#define FUNCTION(name)                                                                                   \
  __attribute__((weak, visibility("default"))) CUresult refuse_##name() __asm__(WARPSMITH_SYMBOL(name)); \
  CUresult refuse_##name() { return CUDA_ERROR_NOT_SUPPORTED; }

extern "C" {
#include "gpu_worker/device/cuda/driver_functions.inc"
}
