// CUDA C++ for the CPU: what a candidate's .cu file is compiled against when it runs on the emulated device. Meant to
// be the first thing in the translation unit, with any C++ standard from 14 to 20, -fPIC -shared -fvisibility=hidden
// -fno-exceptions -fno-rtti -fno-strict-aliasing -fwrapv, without start files and C++ library, and with the flags in
// compile_flags.txt. The unit is
//
//   #include "warpsmith_emulated.h"
//   #include "candidate.cu"
//   WARPSMITH_EMULATED_KERNEL(0, f)
//   WARPSMITH_EMULATED_KERNEL(1, g<128,4>)
//
// How it works:
// - Shared variables are thread_local: the keyword makes `__shared__ float a[32]` static and leaves
//   `extern __shared__ float a[]` an external array. The executor takes the module's thread-local segment over, places
//   it and the dynamic array in memory of its own, and fills both anew for every block.
// - What only a GPU can do fails to compile with a line that holds WARPSMITH_NEEDS_GPU and the feature.
// - Functions of CUDA are templates here, so that a candidate's own function of the same signature is preferred, as
//   NVRTC does.
// - Alignment of every access, shift counts and float-to-integer conversions are checked by the compiler's sanitizer,
//   whose reports end in this header. Integer division by zero traps and is put right by the executor.
// Different from a GPU: a shift by the width or more, and a conversion of NaN or out of range by a cast, end as
// needs_gpu instead of giving a GPU's value; libm's functions round differently in the last bits; subnormals are kept
// with --use_fast_math; a thread spins without ever letting others run where it reads a plain volatile in a loop.
#ifndef WARPSMITH_EMULATED_H_
#define WARPSMITH_EMULATED_H_

// clang-format off
#include "warpsmith/device_table.h"
#include "warpsmith/keywords.h"
#include "warpsmith/vector_types.h"
#include "warpsmith/execution.h"
#include "warpsmith/integer.h"
#include "warpsmith/math.h"
#include "warpsmith/math_special.h"
#include "warpsmith/math_intrinsics.h"
#include "warpsmith/warp.h"
#include "warpsmith/atomics.h"
#include "warpsmith/memory.h"
#include "warpsmith/kernel_glue.h"
#include "warpsmith/host_macros_off.h"
// clang-format on

#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define __EDG__ 1

// Last, because no header may use it after this point.
#define asm WARPSMITH_GPU_ONLY(inline assembly)
#define __asm__ WARPSMITH_GPU_ONLY(inline assembly)
#define __asm WARPSMITH_GPU_ONLY(inline assembly)

#endif  // WARPSMITH_EMULATED_H_
