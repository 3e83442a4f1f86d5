// Indexes of the running thread, barriers, fences, assertions, printing and time.
#ifndef WARPSMITH_EMULATED_EXECUTION_H_
#define WARPSMITH_EMULATED_EXECUTION_H_

#include "device_table.h"
#include "keywords.h"

#define threadIdx (static_cast<const uint3&>(::warpsmith_device.thread_index))
#define blockIdx (static_cast<const uint3&>(::warpsmith_device.block_index))
#define blockDim (static_cast<const dim3&>(::warpsmith_device.block_size))
#define gridDim (static_cast<const dim3&>(::warpsmith_device.grid_size))
static const int warpSize = 32;

namespace warpsmith_emulated {

// Atomics and fences are where a thread that waits for another lets it run, once in a while.
constexpr unsigned kOperationsBetweenSwitches = 4096;
__attribute__((always_inline)) inline void Touch() {
  if (++::warpsmith_device.operations >= kOperationsBetweenSwitches) ::warpsmith_device.yield();
}
__attribute__((always_inline)) inline void CompilerFence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

__attribute__((noreturn, noinline, cold)) inline void Fail(unsigned reason, const char* what, const char* file,
                                                           unsigned line) {
  ::warpsmith_device.fail(reason, what, file, line);
  __builtin_unreachable();
}

}  // namespace warpsmith_emulated

namespace warpsmith_cuda {

WARPSMITH_FUNCTION void __syncthreads() { ::warpsmith_device.barrier(warpsmith_emulated::kBarrierPlain, 0); }
WARPSMITH_FUNCTION int __syncthreads_count(int predicate) {
  return static_cast<int>(::warpsmith_device.barrier(warpsmith_emulated::kBarrierCount, predicate != 0));
}
WARPSMITH_FUNCTION int __syncthreads_and(int predicate) {
  return static_cast<int>(::warpsmith_device.barrier(warpsmith_emulated::kBarrierAnd, predicate != 0));
}
WARPSMITH_FUNCTION int __syncthreads_or(int predicate) {
  return static_cast<int>(::warpsmith_device.barrier(warpsmith_emulated::kBarrierOr, predicate != 0));
}

WARPSMITH_FUNCTION void __threadfence() {
  warpsmith_emulated::CompilerFence();
  warpsmith_emulated::Touch();
}
WARPSMITH_FUNCTION void __threadfence_block() { __threadfence(); }
WARPSMITH_FUNCTION void __threadfence_system() { __threadfence(); }

WARPSMITH_FUNCTION void __nanosleep(unsigned) { ::warpsmith_device.yield(); }
WARPSMITH_FUNCTION long long clock64() { return static_cast<long long>(::warpsmith_device.nanoseconds()); }
WARPSMITH_FUNCTION clock_t clock() { return static_cast<clock_t>(::warpsmith_device.nanoseconds()); }
WARPSMITH_FUNCTION unsigned long long __globaltimer() { return ::warpsmith_device.nanoseconds(); }

WARPSMITH_FUNCTION void __trap() {
  warpsmith_emulated::Fail(warpsmith_emulated::kFailureTrap, "__trap()", "candidate.cu", 0);
}
WARPSMITH_FUNCTION void __brkpt() {
  warpsmith_emulated::Fail(warpsmith_emulated::kFailureTrap, "__brkpt()", "candidate.cu", 0);
}
WARPSMITH_FUNCTION void __prof_trigger(int) {}

#define assert(...) \
  ((__VA_ARGS__)    \
       ? (void)0    \
       : warpsmith_emulated::Fail(warpsmith_emulated::kFailureAssert, #__VA_ARGS__, "candidate.cu", __LINE__))

template <typename... Arguments>
inline int printf(const char* format, Arguments... arguments) {
  return ::warpsmith_device.print(format, arguments...);
}

}  // namespace warpsmith_cuda

// The compiler's sanitizer calls these; `location` starts with a file name and a line.
extern "C" {
__attribute__((used, noreturn, noinline, cold)) void __ubsan_handle_type_mismatch_v1_abort(void* location, void*) {
  warpsmith_emulated::Fail(warpsmith_emulated::kFailureMisaligned, "misaligned address", "candidate.cu",
                           static_cast<unsigned*>(location)[2]);
}
__attribute__((used, noreturn, noinline, cold)) void __ubsan_handle_shift_out_of_bounds_abort(void* location, void*,
                                                                                              void*) {
  warpsmith_emulated::Fail(warpsmith_emulated::kFailureShift, "a shift by the operand's width or more", "candidate.cu",
                           static_cast<unsigned*>(location)[2]);
}
__attribute__((used, noreturn, noinline, cold)) void __ubsan_handle_float_cast_overflow_abort(void* location, void*) {
  warpsmith_emulated::Fail(warpsmith_emulated::kFailureFloatToInteger,
                           "a conversion to an integer of NaN or a value out of range", "candidate.cu",
                           static_cast<unsigned*>(location)[2]);
}
}

#endif  // WARPSMITH_EMULATED_EXECUTION_H_
