// Which resource of a streaming multiprocessor a kernel's blocks run out of first.
// Threading: pure. Units: bytes, threads, registers. Source of the method: the allocation rules of NVIDIA's occupancy
// calculator for compute capability 8.0 and later; the number of blocks itself is the driver's.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_OCCUPANCY_H_
#define WARPSMITH_GPU_WORKER_PROFILE_OCCUPANCY_H_

#include <cstdint>
#include <string>

namespace warpsmith::profile {

// Of one multiprocessor; defaults are an H200's.
struct MultiprocessorLimits {
  int threads = 2048;
  int blocks = 32;
  int registers = 65536;
  int64_t shared_bytes = 233472;
  int64_t reserved_shared_bytes_per_block = 1024;
};

struct BlockResources {
  int threads = 0;
  int registers_per_thread = 0;
  int64_t shared_bytes = 0;  // static and dynamic
};

// "registers", "shared_memory", "threads" or "blocks". "threads" where nothing else binds sooner: the block's size
// alone decides.
std::string OccupancyLimiter(const MultiprocessorLimits& limits, const BlockResources& block);

// Blocks that fit by the rules, for the same result where there is no driver to ask.
int BlocksThatFit(const MultiprocessorLimits& limits, const BlockResources& block);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_OCCUPANCY_H_
