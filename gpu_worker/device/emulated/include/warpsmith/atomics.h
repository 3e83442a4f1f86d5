// Atomic functions for the types that CUDA has them for, with their _block and _system forms. One operating-system
// thread runs all emulated threads, and no function here lets another run between its read and its write.
#ifndef WARPSMITH_EMULATED_ATOMICS_H_
#define WARPSMITH_EMULATED_ATOMICS_H_

#include "execution.h"
#include "keywords.h"
#include "vector_types.h"

namespace warpsmith_emulated {

template <typename T, typename Change>
__attribute__((always_inline)) inline T ReadChangeWrite(T* address, Change change) {
  CompilerFence();
  T old = *address;
  *address = change(old);
  CompilerFence();
  Touch();
  return old;
}

}  // namespace warpsmith_emulated

namespace warpsmith_cuda {

#define WARPSMITH_ATOMIC_ONE(name, type, expression)                                                   \
  WARPSMITH_FUNCTION type name(type* address, type value) {                                            \
    return warpsmith_emulated::ReadChangeWrite(address, [=](type old) -> type { return expression; }); \
  }
#define WARPSMITH_ATOMIC(name, type, expression)       \
  WARPSMITH_ATOMIC_ONE(name, type, expression)         \
  WARPSMITH_ATOMIC_ONE(name##_block, type, expression) \
  WARPSMITH_ATOMIC_ONE(name##_system, type, expression)
#define WARPSMITH_COMPARE_AND_SWAP_ONE(name, type)                                                              \
  WARPSMITH_FUNCTION type name(type* address, type compare, type value) {                                       \
    return warpsmith_emulated::ReadChangeWrite(address,                                                         \
                                               [=](type old) -> type { return old == compare ? value : old; }); \
  }
#define WARPSMITH_COMPARE_AND_SWAP(type)                \
  WARPSMITH_COMPARE_AND_SWAP_ONE(atomicCAS, type)       \
  WARPSMITH_COMPARE_AND_SWAP_ONE(atomicCAS_block, type) \
  WARPSMITH_COMPARE_AND_SWAP_ONE(atomicCAS_system, type)

#define WARPSMITH_ATOMIC_INTEGER(type)                              \
  WARPSMITH_ATOMIC(atomicMin, type, old < value ? old : value)      \
  WARPSMITH_ATOMIC(atomicMax, type, old > value ? old : value)      \
  WARPSMITH_ATOMIC(atomicAnd, type, static_cast<type>(old & value)) \
  WARPSMITH_ATOMIC(atomicOr, type, static_cast<type>(old | value))  \
  WARPSMITH_ATOMIC(atomicXor, type, static_cast<type>(old ^ value)) \
  WARPSMITH_ATOMIC(atomicExch, type, value)                         \
  WARPSMITH_COMPARE_AND_SWAP(type)
WARPSMITH_ATOMIC_INTEGER(int)
WARPSMITH_ATOMIC_INTEGER(unsigned)
WARPSMITH_ATOMIC_INTEGER(unsigned long long)
WARPSMITH_ATOMIC(atomicMin, long long, old < value ? old : value)
WARPSMITH_ATOMIC(atomicMax, long long, old > value ? old : value)
WARPSMITH_ATOMIC(atomicAnd, long long, old& value)
WARPSMITH_ATOMIC(atomicOr, long long, old | value)
WARPSMITH_ATOMIC(atomicXor, long long, old ^ value)
WARPSMITH_COMPARE_AND_SWAP(unsigned short)
WARPSMITH_ATOMIC(atomicExch, float, value)

WARPSMITH_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
WARPSMITH_ATOMIC(atomicAdd, unsigned, old + value)
WARPSMITH_ATOMIC(atomicAdd, unsigned long long, old + value)
WARPSMITH_ATOMIC(atomicAdd, float, old + value)
WARPSMITH_ATOMIC(atomicAdd, double, old + value)
WARPSMITH_ATOMIC(atomicAdd, float2, (float2{old.x + value.x, old.y + value.y}))
WARPSMITH_ATOMIC(atomicAdd, float4, (float4{old.x + value.x, old.y + value.y, old.z + value.z, old.w + value.w}))
WARPSMITH_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
WARPSMITH_ATOMIC(atomicSub, unsigned, old - value)
WARPSMITH_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1)
WARPSMITH_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

#undef WARPSMITH_ATOMIC_INTEGER
#undef WARPSMITH_COMPARE_AND_SWAP
#undef WARPSMITH_COMPARE_AND_SWAP_ONE

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_ATOMICS_H_
