// What the emulated device offers to compiled kernels: the running thread's indexes and a table of services. It is the
// only symbol besides the C library's that a candidate's shared object needs; the executor exports it.
// Included by candidates and by the executor, so it uses no standard header.
// Threading: one operating-system thread runs every emulated thread; the scheduler fills in the indexes at each switch.
#ifndef WARPSMITH_EMULATED_DEVICE_TABLE_H_
#define WARPSMITH_EMULATED_DEVICE_TABLE_H_

#include "index_types.h"

namespace warpsmith_emulated {

enum BarrierKind : unsigned { kBarrierPlain, kBarrierCount, kBarrierAnd, kBarrierOr };

// What the lanes of a warp do together. Values travel as 64-bit patterns.
enum WarpOperation : unsigned {
  kWarpSync,
  kShuffleIndex,  // operand: source lane; width: lanes of a segment
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kBallot,
  kVoteAll,
  kVoteAny,
  kMatchAny,
  kMatchAll,
  kReduceAdd,
  kReduceMinSigned,
  kReduceMaxSigned,
  kReduceMinUnsigned,
  kReduceMaxUnsigned,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kActiveMask,
};

enum FailureReason : unsigned {
  kFailureAssert,          // launch error
  kFailureTrap,            // launch error
  kFailureMisaligned,      // illegal access
  kFailureShift,           // needs a GPU: a shift by the width or more
  kFailureFloatToInteger,  // needs a GPU: a conversion of NaN or out of range
};

struct Device {
  // The running thread.
  uint3 thread_index;
  uint3 block_index;
  dim3 block_size;
  dim3 grid_size;
  unsigned thread;      // linear index within the block
  unsigned operations;  // atomics and fences since the last switch
  unsigned cooperative;

  // Services. All return to the calling thread only; `fail` does not return.
  unsigned (*barrier)(unsigned kind, unsigned predicate);
  unsigned long long (*warp)(unsigned operation, unsigned mask, unsigned long long value, unsigned operand,
                             unsigned width);
  void (*grid_barrier)();
  void (*yield)();
  void (*fail)(unsigned reason, const char* what, const char* file, unsigned line);
  int (*print)(const char* format, ...);
  void* (*allocate)(unsigned long bytes);
  void (*release)(void* pointer);
  unsigned long long (*nanoseconds)();
};

// A kernel as the compiler reads it out of the shared object without loading it: plain data without relocations.
// `kind` follows warpsmith::plan::ParameterKind: 0 unknown, 1 pointer, 2 integer, 3 floating point, 4 structure.
constexpr unsigned kKernelMagic = 0x574b4431;
constexpr unsigned kMaxParameters = 64;
struct KernelDescriptor {
  unsigned magic;
  unsigned parameter_count;
  unsigned
      static_shared_bytes;  // 0: unknown; the module's thread-local segment holds the shared variables of all kernels
  unsigned max_threads;
  struct {
    unsigned kind;
    unsigned size;
  } parameters[kMaxParameters];
};

}  // namespace warpsmith_emulated

extern "C" __attribute__((visibility("default"))) warpsmith_emulated::Device warpsmith_device;

#endif  // WARPSMITH_EMULATED_DEVICE_TABLE_H_
