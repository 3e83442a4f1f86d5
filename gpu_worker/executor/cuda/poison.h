// What outputs and scratch hold before a timed run.
// Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_POISON_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_POISON_H_

#include <cstdint>

namespace warpsmith::executor {

inline constexpr uint32_t kPoisonPatterns = 15 * 127;

// A NaN as float64, float32 and both float16 and both bfloat16 of its halves, a negative integer of any width;
// different for any kPoisonPatterns numbers in a row.
constexpr uint32_t PoisonPattern(uint32_t number) {
  number %= kPoisonPatterns;
  uint32_t high = 0xfff0u | (1 + number / 127);
  uint32_t low = 0xff80u | (1 + number % 127);
  return high << 16 | low;
}

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_POISON_H_
